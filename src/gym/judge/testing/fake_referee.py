"""A fake referee for tests of its client. It does what the candidate's plan says. A plan consists of words:

- "ok" answers.
- "segfault" dies of a signal, "segfault-once FILE" only while FILE does not exist.
- "hang" never answers, "late" closes the socket, and "garble" answers something that is not JSON.
- "wrong" answers that the candidate is wrong. "wrong FILE" does so unless FILE exists, and "wrong-but-once FILE" unless it
  could delete FILE.
- "ask" asks the Python reference for the forward of a Model without weights on four floats, and notes the answer.
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


def receive_bytes():
    return exactly(struct.unpack("<I", exactly(4))[0])


def receive():
    return receive_bytes().decode()


def die():
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGSEGV)


tasks = {}
calibrates = True  # once
wrong = {"ran": True, "correct": False, "fault": "candidate", "findings": [], "error": {"class": "wrong_value", "message": "off", "line": 0}}
send({"ready": []})
while True:
    head, plan = json.loads(receive()), receive()
    if "add_task" in head:
        tasks[head["add_task"]] = plan
        send({"added": True})
        continue
    if "calibrate" in head:
        send({"calibration": {"version": 3, "compute_ms": 2.5, "memory_ms": 1.25}} if calibrates else {"error": "the GPU is busy"})
        calibrates = False
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
    if words[0] == "wrong" and not (words[1:] and os.path.exists(words[1])):
        send({"report": wrong})
        continue
    if words[0] == "wrong-but-once":
        try:
            os.remove(words[1])
        except FileNotFoundError:
            send({"report": wrong})
            continue
    if words[0] == "ask":
        send({"reference": {"ask": "prepare", "source": "raise SystemExit('not mine to say')"}})
        mode = json.loads(receive())
        send({"reference": {"ask": "forward", "mode": mode.get("mode", "train"), "init_seed": 1, "forward_seed": 2, "oracle": True, "parameters": [],
                            "tensors": {"5": {"dtype": "float32", "shape": [4], "stride": [1], "offset": 0, "storage": 0}},
                            "inputs": [{"tensor": 5}], "blocks": [16]}})
        send(struct.pack("<4f", -8, 1, 2, 4))
        told = json.loads(receive())
        blocks = [receive_bytes() for _ in told.get("blocks", [])]
        values = [list(struct.unpack("<4f" if tensor["dtype"] == "float32" else "<4d", block))
                  for tensor, block in zip(told.get("tensors", []), blocks)]
        note = json.dumps({"prepare": mode, "outputs": told.get("outputs"), "values": values,
                           "ending": told.get("error") or told.get("fault")}, sort_keys=True)
        send({"report": {"ran": True, "correct": True, "fault": "none", "reference": "shell",
                         "findings": [{"rule": "told", "severity": "note", "line": 0, "message": note}]}})
        continue
    note = {"rule": "task_was", "severity": "note", "line": 0, "message": tasks[head["judge"]["task"]]}
    send({"report": {"ran": True, "correct": True, "fault": "none", "findings": [note]}})
