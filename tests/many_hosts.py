"""A chaos test of a gym on many hosts: doors and workers share one Redis, and all of them are killed at random meanwhile.

usage: many_hosts.py PATH_OF_TRITONSMITH [--jobs N] [--doors N] [--workers N] [--pause S] [--seed N]

Clients submit jobs with known outcomes at random doors, repeat what failed, and read their verdicts at other doors. Meanwhile
SIGKILL hits workers, doors and the Redis server, which are started again, and SIGSTOP holds a worker up for longer than its
lease, as a cut link would. Every job must come back exactly once on its client's stream, with the outcome that its kernel must
have. No door may answer anything but a verdict, "not yet" or a refusal to take the call now. At the end a worker gets SIGTERM
and must finish what it has. A table comes last.
"""

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import soak

OUTCOMES = {"good": None, "wrong": "wrong_value", "out of bounds": "out_of_bounds", "raises": "exception"}
LEASE_SECONDS = 4
PATIENCE = 300  # no job may wait for longer
SERVER = next((path for path in ("/usr/bin/redis-server", "/usr/bin/redis-check-rdb") if os.path.exists(path)), None)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Program:
    """A process that is started again after each kill."""

    def __init__(self, name, command, log, **options):
        self.name, self.command, self.log, self.options = name, command, log, options
        self.kills = 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, start_new_session=True, **self.options)

    def kill(self):
        self.kills += 1
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def hold_up(self, seconds):
        self.kills += 1
        os.killpg(self.process.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.killpg(self.process.pid, signal.SIGCONT)

    def end(self, seconds=60):
        """SIGTERM; returns the exit code."""
        self.process.terminate()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return None


class Gym:
    """Redis, doors and workers."""

    def __init__(self, arguments, folder):
        os.chmod(folder, 0o711)  # guests run as users of their own and must pass this folder
        self.log = open(os.path.join(folder, "log"), "ab")
        self.url = f"unix:{folder}/redis.sock"
        server = os.path.join(folder, "redis-server")  # by this name the program is the server
        os.symlink(SERVER, server)
        self.redis = Program("redis", [server, "--port", "0", "--unixsocket", f"{folder}/redis.sock", "--dir", folder, "--save", "",
                                       "--appendonly", "yes", "--appendfsync", "always"], self.log)
        self.ports = [free_port() for _ in range(arguments.doors)]
        self.doors = [Program(f"door {k}", [arguments.binary, "gym", "serve", "--store", self.url, "--listen", f"127.0.0.1:{port}"],
                              self.log) for k, port in enumerate(self.ports)]
        self.workers = []
        for k in range(arguments.workers):
            home = os.path.join(folder, f"worker{k}")
            os.mkdir(home, 0o711)
            self.workers.append(Program(
                f"worker {k}", [arguments.binary, "gym", "work", "--store", self.url, "--dir", home,
                                "--set", f"lease_seconds={LEASE_SECONDS}", "--set", "judge.referee_seconds=5"],
                self.log, env={**os.environ, "TMPDIR": home}))

    def ask(self, method, path, body=None, door=None):
        """(status, JSON) of a random door; status 0 if it does not answer."""
        port = random.choice(self.ports) if door is None else self.ports[door]
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
        except (OSError, ValueError):
            return 0, {}

    def events(self, client):
        """The ids of the verdicts on the client's stream, from its beginning."""
        port = random.choice(self.ports)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/verdicts?client={client}&until=idle", timeout=60) as stream:
            return [json.loads(line[6:])["id"] for line in stream.read().decode().splitlines() if line.startswith("data: ")]

    def end(self):
        for program in (*self.doors, *self.workers, self.redis):
            if program.process.poll() is None:
                program.kill()


class Client(threading.Thread):
    def __init__(self, gym, name, numbers, deadline):
        super().__init__()
        self.gym, self.label, self.numbers, self.deadline = gym, name, numbers, deadline
        self.waits, self.faults, self.refusals, self.names = [], [], 0, []

    def run(self):
        for number in self.numbers:
            kind = list(OUTCOMES)[number % len(OUTCOMES)]
            began = time.monotonic()
            verdict = self.judge({"task": {"source": soak.TASK}, "kernel": soak.kernel_source(kind, number), "client": self.label})
            self.waits.append(time.monotonic() - began)
            found = None if verdict is None else "accepted" if verdict["accepted"] else verdict["error"]["class"]
            expected = OUTCOMES[kind] or "accepted"
            if found != expected:
                self.faults.append(f"job {number} ({kind}): {found or 'no verdict'}, must be {expected}")

    def judge(self, job):
        name = None
        while time.monotonic() < self.deadline:
            if name is None:
                status, reply = self.gym.ask("POST", "/v1/jobs", job)
                name = reply.get("id") if status == 202 else None
            else:
                status, reply = self.gym.ask("GET", f"/v1/jobs/{name}?wait=5")
                if status == 200 and reply["state"] == "done":
                    verdict = reply["verdict"]
                    if verdict["fault"] != "infrastructure":
                        self.names.append(name)
                        return verdict
                    name = None  # no verdict: the job is submitted again
            if status not in (0, 200, 202, 429, 503):
                self.faults.append(f"a door answered {status}: {reply}")
            if status in (0, 429, 503):
                self.refusals += 1
                time.sleep(0.2)
        return None


def disturb(gym, arguments, rng, stop):
    while not stop.wait(arguments.pause * (0.5 + rng.random())):
        draw = rng.random()
        if draw < 0.25:
            rng.choice(gym.workers).hold_up(LEASE_SECONDS * (0.5 + rng.random()))
            continue
        program = rng.choice(gym.workers) if draw < 0.5 else rng.choice(gym.doors) if draw < 0.8 else gym.redis
        program.kill()
        stop.wait(rng.random())
        program.start()


def wait_until_ready(gym):
    for _ in range(1200):
        if all(gym.ask("GET", "/readyz", door=door)[0] == 200 for door in range(len(gym.ports))):
            return
        time.sleep(0.1)
    raise SystemExit("the doors do not become ready:\n" + open(gym.log.name).read()[-3000:])


def check(gym, clients):
    faults = [fault for client in clients for fault in client.faults]
    for client in clients:
        events = gym.events(client.label)
        if sorted(events) != sorted(client.names):
            faults.append(f"{client.label}: {len(events)} verdicts on its stream for {len(client.names)} jobs")
    status, state = gym.ask("GET", "/v1/status")
    if status != 200 or state["running"] or any(state["queued"].values()):
        faults.append(f"unfinished jobs are left: {status} {state}")
    for worker in gym.workers:
        if worker.end() != 0:
            faults.append(f"{worker.name} did not end in good order")
    deadline = time.monotonic() + 3 * LEASE_SECONDS  # a killed worker is listed until its lease ends
    while (status := gym.ask("GET", "/readyz")[0]) != 503 and time.monotonic() < deadline:
        time.sleep(0.2)
    if status != 503:
        faults.append("a door is ready although no worker is left")
    return faults


def run(arguments, folder):
    gym = Gym(arguments, folder)
    try:
        wait_until_ready(gym)
        began = time.monotonic()
        clients = [Client(gym, f"client-{k}", range(k, arguments.jobs, 8), began + PATIENCE + arguments.jobs) for k in range(8)]
        stop = threading.Event()
        disturbing = threading.Thread(target=disturb, args=(gym, arguments, random.Random(arguments.seed), stop))
        disturbing.start()
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        stop.set()
        disturbing.join()
        wait_until_ready(gym)
        faults = check(gym, clients)
        waits = [wait for client in clients for wait in client.waits]
        print(f"{'jobs':>6} {'seconds':>8} {'faults':>7} {'longest wait':>13} {'calls refused':>14}  kills")
        print(f"{arguments.jobs:6} {time.monotonic() - began:8.1f} {len(faults):7} {max(waits):11.1f} s "
              f"{sum(client.refusals for client in clients):14}  "
              + ", ".join(f"{program.name}: {program.kills}" for program in (gym.redis, *gym.doors, *gym.workers)))
        if faults:
            print(*faults[:20], sep="\n")
            print(open(gym.log.name).read()[-4000:])
        return 1 if faults else 0
    finally:
        gym.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--doors", type=int, default=2)
    parser.add_argument("--workers", type=int, default=5)
    parser.add_argument("--pause", type=float, default=6, help="seconds between kills, on average")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if SERVER is None:
        print("redis-tools is not installed: skipped")
        return 77
    with tempfile.TemporaryDirectory(prefix="many-hosts-") as folder:
        return run(arguments, folder)


if __name__ == "__main__":
    sys.exit(main())
