"""A referee for tests of its client: does what the candidate's plan says.

A plan is words: "ok" answers, "segfault" dies of a signal, "segfault-once FILE" only while FILE does not exist, "hang" never
answers, "garble" answers no JSON, "late" closes the socket.
"""

import json
import os
import signal
import socket
import struct

channel = socket.socket(fileno=3)


def send(document):
    payload = document if isinstance(document, bytes) else json.dumps(document).encode()
    channel.sendall(struct.pack("<I", len(payload)) + payload)


def exactly(count):
    data = b""
    while len(data) < count:
        piece = channel.recv(count - len(data))
        if not piece:
            raise SystemExit(0)
        data += piece
    return data


def receive():
    return exactly(struct.unpack("<I", exactly(4))[0]).decode()


def die():
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGSEGV)


tasks = {}
send({"ready": []})
while True:
    head, plan = json.loads(receive()), receive()
    if "add_task" in head:
        tasks[head["add_task"]] = plan
        send({"added": True})
        continue
    if head["judge"]["task"] not in tasks:
        send({"unknown_task": head["judge"]["task"]})
        continue
    words = plan.split()
    if words[0] == "segfault":
        die()
    if words[0] == "segfault-once" and not os.path.exists(words[1]):
        open(words[1], "w").close()
        die()
    if words[0] == "hang":
        signal.pause()
    if words[0] == "garble":
        send(b"\xff{")
        continue
    if words[0] == "late":
        raise SystemExit(3)
    note = {"rule": "task_was", "severity": "note", "line": 0, "message": tasks[head["judge"]["task"]]}
    send({"report": {"ran": True, "correct": True, "fault": "none", "findings": [note]}})
