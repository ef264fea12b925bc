"""A chaos test of a gym on many hosts: API servers and workers share one Redis, and everything fails at random meanwhile.

usage: many_hosts.py PATH_OF_TRITONSMITH [--jobs N] [--seconds S] [--hosts N] [--api-servers N] [--workers N] [--capturing N] [--pause S] [--seed N]

The hosts are network namespaces (network_hosts.py). Clients send kernels of known outcome through all protocols of the API servers,
repeat what failed, and read their verdicts at other API servers. Meanwhile SIGKILL hits workers, API servers and the Redis server, which are
started again, SIGSTOP holds workers up, links are cut for 1 to 20 s, and wall clocks are shifted by up to an hour.

Every job must have exactly one verdict, which is the same at each API server, and the right one. A reward must be the one that the
gym gave for such a kernel before the chaos: so no fault is scored as zero. No API server may answer anything but its protocol's
result, or that there is none yet. At the end workers get SIGTERM and must finish what they have. A table comes last.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import gym_protocols
import network_hosts
import soak

KINDS = ["good", "wrong", "out of bounds", "raises"]
LEASE_SECONDS = 4
PATIENCE = 300  # no job may wait for longer
TOKEN = "a-token-of-the-chaos-test"
SERVER = next((path for path in ("/usr/bin/redis-server", "/usr/bin/redis-check-rdb") if os.path.exists(path)), None)


def catches(process, signal_number):
    """Whether the process has a handler for the signal. A program that has just been started has none yet."""
    try:
        with open(f"/proc/{process}/status") as status:
            caught = next(int(line.split()[1], 16) for line in status if line.startswith("SigCgt"))
    except (OSError, StopIteration):
        return False
    return bool(caught >> (signal_number - 1) & 1)


class Program:
    """A process of a host that is started again after its end, as an init system does."""

    def __init__(self, name, host, command, log, **environment):
        self.name, self.host, self.command, self.log, self.environment = name, host, command, log, environment
        self.kills, self.holds, self.ends, self.lock = 0, 0, 0, threading.Lock()
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.host.command(*self.command), stdout=self.log, stderr=self.log, start_new_session=True,
                                        env={**os.environ, **self.host.environment(), **self.environment})

    def kill(self):
        self.kills += 1
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def kill_for(self, seconds):
        with self.lock:
            self.kill()
            time.sleep(seconds)
            self.start()

    def hold_up(self, seconds):
        with self.lock:
            if self.process.poll() is None:
                self.holds += 1
                os.killpg(self.process.pid, signal.SIGSTOP)
                time.sleep(seconds)
                os.killpg(self.process.pid, signal.SIGCONT)

    def start_if_ended(self):
        """A program may end by itself: it finds no store when it starts."""
        if self.lock.acquire(blocking=False):
            if self.process.poll() is not None:
                self.ends += 1
                self.start()
            self.lock.release()

    def end(self, seconds=60):
        """SIGTERM, once the program listens for it; returns the exit code."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and not catches(self.process.pid, signal.SIGTERM) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.process.terminate()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return None


class Gym:
    """Redis on the first host, API servers from there on, and workers on all others."""

    def __init__(self, arguments, folder, why_not):
        os.chmod(folder, 0o711)  # guests run as users of their own and must pass this folder
        self.log = open(os.path.join(folder, "log"), "ab")
        self.hosts = network_hosts.build(arguments.hosts, folder, why_not)
        self.store_port = gym_protocols.free_port()
        url = f"redis://:secret@{self.hosts[0].address}:{self.store_port}"
        server = os.path.join(folder, "redis-server")  # by this name the program is the server
        os.symlink(SERVER, server)
        self.redis = Program("redis", self.hosts[0], [server, "--port", str(self.store_port), "--bind", self.hosts[0].address,
                                                      "--requirepass", "secret", "--dir", folder, "--save", "", "--appendonly", "yes",
                                                      "--appendfsync", "always"], self.log)
        roles, key_of_api_servers = self.make_roles(folder, arguments)
        self.api_servers, self.addresses = [], []
        for k in range(arguments.api_servers):
            host = self.hosts[k % len(self.hosts)]
            self.addresses.append(f"http://{host.address}:{gym_protocols.free_port()}")
            command = [arguments.binary, "gym", "serve", "--store", url, "--listen", self.addresses[-1][7:], *key_of_api_servers]
            self.api_servers.append(Program(f"API server {k}", host, command, self.log, TRITONSMITH_GYM_TOKEN=TOKEN))
        self.workers = []
        for k in range(arguments.workers):
            home = os.path.join(folder, f"worker{k}")
            os.mkdir(home, 0o711)
            self.workers.append(Program(f"worker {k}", (self.hosts[1:] or self.hosts)[k % max(1, len(self.hosts) - 1)],
                                        [arguments.binary, "gym", "work", "--store", url, "--dir", home, *roles[k],
                                         "--set", f"lease_seconds={LEASE_SECONDS}", "--set", "judge.referee_seconds=5",
                                         *(part for setting in arguments.set for part in ("--set", setting))],
                                        self.log, TMPDIR=home))

    @staticmethod
    def make_roles(folder, arguments):
        """The options of each worker and of the API servers. With --capturing N the first N workers capture, and the others only judge."""
        if not arguments.capturing:
            return [[]] * arguments.workers, []
        keys = {}
        for name in ("capture", "verdict"):
            keys[name] = os.path.join(folder, f"{name}.key")
            with open(keys[name], "w") as file:
                file.write(os.urandom(32).hex())
        capture = ["--role", "capture", "--capture-key", keys["capture"]]
        judge = ["--role", "judge", "--capture-key", keys["capture"], "--verdict-key", keys["verdict"]]
        return [capture if k < arguments.capturing else judge for k in range(arguments.workers)], ["--verdict-key", keys["verdict"]]

    def ask(self, method, path, body=None, api_server=None, headers=None):
        """(status, JSON) of a random API server; status 0 if it does not answer."""
        url = random.choice(self.addresses) if api_server is None else self.addresses[api_server]
        return gym_protocols.ask(url, TOKEN, method, path, body, headers)

    def events(self, client):
        """The ids of the verdicts on the client's stream, from its beginning."""
        text = gym_protocols.read_stream(random.choice(self.addresses), TOKEN, f"/v1/verdicts?client={client}&until=idle")
        return [json.loads(line[6:])["id"] for line in text.splitlines() if line.startswith("data: ")]

    def programs(self):
        return [self.redis, *self.api_servers, *self.workers]

    def end(self):
        for program in reversed(self.programs()):
            if program.process.poll() is None:
                program.kill()


class Client(threading.Thread):
    """Sends its jobs one after another, each through the next protocol."""

    def __init__(self, gym, label, numbers, expected, deadline):
        super().__init__()
        self.gym, self.label, self.numbers, self.expected, self.deadline = gym, label, numbers, expected, deadline
        self.waits, self.faults, self.refusals, self.verdicts = [], [], 0, {}

    def run(self):
        for number in self.numbers:
            if time.monotonic() > self.deadline - PATIENCE:
                return
            kind, protocol = KINDS[number % len(KINDS)], list(gym_protocols.PROTOCOLS)[number // len(KINDS) % len(gym_protocols.PROTOCOLS)]
            began = time.monotonic()
            answer = self.judge(protocol, soak.kernel_source(kind, number))
            self.waits.append(time.monotonic() - began)
            if answer != self.expected[protocol, kind]:
                self.faults.append(f"job {number} ({kind}, {protocol}): {answer}, must be {self.expected[protocol, kind]}")

    def judge(self, protocol, kernel):
        """Repeats until there is a result, as a client of this protocol does."""
        conversation = gym_protocols.PROTOCOLS[protocol](self.gym.ask, soak.TASK, kernel, self.label)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            status, answer = conversation.turn()
            if answer is not None:
                if conversation.name:
                    self.verdicts[conversation.name] = answer
                return answer
            if status not in (0, 200, 202, 429, 503):
                self.faults.append(f"{protocol}: an API server answered {status}")
            if status in (0, 429, 503):
                self.refusals += 1
                time.sleep(0.2)
        return None


class Chaos:
    """Three threads: one kills and holds up programs, one cuts links and shifts clocks, and one starts what has ended."""

    def __init__(self, gym, arguments):
        self.gym, self.pause, self.stop = gym, arguments.pause, threading.Event()
        self.threads = [threading.Thread(target=self.disturb, args=(step, random.Random(f"{arguments.seed} {step.__name__}")))
                        for step in (self.hit_program, self.hit_host)]
        self.threads.append(threading.Thread(target=self.supervise))

    def start(self):
        for thread in self.threads:
            thread.start()

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()
        for host in self.gym.hosts:
            host.shift_clock(0)

    def disturb(self, step, rng):
        while not self.stop.wait(self.pause * (0.5 + rng.random())):
            step(rng)

    def supervise(self):
        while not self.stop.wait(2):
            for program in self.gym.programs():
                program.start_if_ended()

    def hit_program(self, rng):
        draw = rng.random()
        if draw < 0.25:
            rng.choice(self.gym.workers).hold_up(LEASE_SECONDS * (0.5 + rng.random()))
            return
        program = rng.choice(self.gym.workers) if draw < 0.5 else rng.choice(self.gym.api_servers) if draw < 0.75 else self.gym.redis
        program.kill_for(3 * rng.random())

    def hit_host(self, rng):
        host = rng.choice(self.gym.hosts)
        if rng.random() < 0.3:
            host.shift_clock(rng.choice([-1, 1]) * rng.randint(1, 3600))
            return
        mend = host.cut()
        self.stop.wait(rng.uniform(1, 20))
        mend()


def wait_until_ready(gym):
    for _ in range(1800):
        if all(gym.ask("GET", "/readyz", api_server=k)[0] == 200 for k in range(len(gym.api_servers))):
            return
        time.sleep(0.1)
    raise SystemExit("the API servers do not become ready:\n" + open(gym.log.name).read()[-3000:])


def calm_answers(gym):
    """What each protocol answers for each kind while nothing fails."""
    calm = Client(gym, "calm", [], {}, 0)
    answers = {(protocol, kind): calm.judge(protocol, soak.kernel_source(kind, -2 - KINDS.index(kind)))
               for protocol in gym_protocols.PROTOCOLS for kind in KINDS}
    for protocol in gym_protocols.PROTOCOLS:
        good, *others = (answers[protocol, kind] for kind in KINDS)
        if None in (good, *others) or good in others or not gym_protocols.is_success(good):
            raise SystemExit(f"{protocol} does not tell right kernels from wrong ones: {answers}\n{open(gym.log.name).read()[-3000:]}")
    return answers


def check(gym, clients):
    faults = [fault for client in clients for fault in client.faults]
    for client in clients:
        events = gym.events(client.label)
        if sorted(events) != sorted(client.verdicts):
            faults.append(f"{client.label}: {len(events)} verdicts on its stream for {len(client.verdicts)} jobs")
        for name, answer in client.verdicts.items():
            kept = [gym_protocols.outcome(gym.ask("GET", f"/v1/jobs/{name}", api_server=k)[1]) for k in range(len(gym.api_servers))]
            if set(kept) != {answer}:
                faults.append(f"job {name}: its client got {answer}, and the API servers have {kept}")
    status, state = gym.ask("GET", "/v1/status")
    if status != 200 or state["running"] or any(state["queued"].values()):
        faults.append(f"unfinished jobs are left: {status} {state}")
    repeated = state.get("repeated_verdicts")
    for worker in gym.workers:
        if (code := worker.end()) != 0:
            faults.append(f"{worker.name} ended with {code} after SIGTERM")
    deadline = time.monotonic() + 3 * LEASE_SECONDS  # a killed worker is listed until its lease ends
    while (status := gym.ask("GET", "/readyz")[0]) != 503 and time.monotonic() < deadline:
        time.sleep(0.2)
    if status != 503:
        faults.append("an API server is ready although no worker is left")
    return faults, repeated


def report(gym, clients, seconds, faults, repeated):
    waits = sorted(wait for client in clients for wait in client.waits)
    print(f"jobs                 {len(waits)} in {seconds:.0f} s, by {len(clients)} clients through {', '.join(gym_protocols.PROTOCOLS)}")
    print(f"faults               {len(faults)}")
    print(f"wait for a verdict   median {waits[len(waits) // 2]:.1f} s, 99 % {waits[len(waits) * 99 // 100]:.1f} s, longest {waits[-1]:.1f} s")
    print(f"no result yet        {sum(client.refusals for client in clients)} calls, which were repeated")
    print(f"second verdicts      {repeated}, dropped")
    print("killed               " + ", ".join(f"{program.name}: {program.kills}" for program in gym.programs()))
    print("ended by themselves  " + ", ".join(f"{program.name}: {program.ends}" for program in gym.programs() if program.ends))
    print("held up              " + ", ".join(f"{worker.name}: {worker.holds}" for worker in gym.workers))
    print("link cut, clock set  " + ", ".join(f"host {host.number}: {host.cuts}, {host.shifts}" for host in gym.hosts))


def run(arguments, folder, why_not):
    gym = Gym(arguments, folder, why_not)
    try:
        wait_until_ready(gym)
        expected = calm_answers(gym)
        began = time.monotonic()
        clients = [Client(gym, f"client-{k}", range(k, arguments.jobs, arguments.clients), expected, began + arguments.seconds + PATIENCE)
                   for k in range(arguments.clients)]
        chaos = Chaos(gym, arguments)
        chaos.start()
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        seconds = time.monotonic() - began
        chaos.end()
        wait_until_ready(gym)
        faults, repeated = check(gym, clients)
        report(gym, clients, seconds, faults, repeated)
        if why_not:
            print(f"network namespaces   none ({why_not}): all programs shared one host, and no link was cut")
        if faults:
            print(*faults[:20], sep="\n")
            print(open(gym.log.name).read()[-6000:])
        return 1 if faults else 0
    finally:
        gym.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=os.path.abspath)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=86_400, help="then no further job begins")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--api-servers", type=int, default=2)
    parser.add_argument("--workers", type=int, default=5)
    parser.add_argument("--capturing", type=int, default=0, help="workers that only capture; the others only judge")
    parser.add_argument("--pause", type=float, default=6, help="seconds between faults of one sort, on average")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE, a setting of each worker")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if SERVER is None:
        print("redis-tools is not installed: skipped")
        return 77
    why_not = network_hosts.enter()
    random.seed(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="many-hosts-") as folder:
        return run(arguments, folder, why_not)


if __name__ == "__main__":
    sys.exit(main())
