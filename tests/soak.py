"""A soak test of `tritonsmith gym serve`: it submits jobs with known outcomes over HTTP and kills random processes meanwhile.

usage: soak.py PATH_OF_TRITONSMITH [--jobs N] [--seconds S] [--pause S] [--rare N] [--backend NAME] [--set KEY=VALUE] [--seed N]

Guests, zygotes, compile workers (and their ptxas), referees and the service itself get SIGKILL at random moments. The test
starts the service again on the same folder. Some jobs do harm themselves: they never end, fork, flood the output, fill the
disk, the memory or the GPU's memory, or kill themselves.

Every submitted job must come back exactly once on the client's one stream, with the outcome that its kernel must have.
After each fault, a verdict must come within --serve-again seconds. A fault is a kill, or on a GPU a kernel that costs the
referee its context: one with an illegal address or without an end. Within the same time a verdict must show the judge at
work again: of a right kernel, timed if there is a GPU, whose referee began after the fault. A killed service must not have
reached this verdict before. At the end no process and no temporary file may be left. An infrastructure fault is not a wrong
verdict, but at most one verdict in fifty may be one. All jobs differ, so the store answers none. A table comes last.
"""

import argparse
import collections
import http.client
import itertools
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2.0

def get_inputs():
    return [torch.randn(8, 256)]

def get_init_inputs():
    return []
"""

KERNEL = """import torch
import torch.nn as nn
import triton
import triton.language as tl
import os
{first}

@triton.jit
def kernel(x_ptr, y_ptr, n, SALT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    {loop}
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets{offset}, tl.maximum(x, 0.0) * {factor} + SALT - SALT, mask={mask})

class ModelNew(nn.Module):
    def forward(self, x):
        {before}
        y = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), SALT={salt}, BLOCK=256)
        return y
"""

ENDLESS = """turn = 0
    while turn < 2000000000:
        turn += n - 2047
    offsets += turn - 2000000000"""

# No tensor of this forward is large in memory. But the operator copies an expanded one into a terabyte, so the need for
# memory shows only when the operator runs. On a CPU the job meets the referee's own limit.
HIDDEN_COPY = "one = x.flatten()[:1]; torch.mm(one.expand(1 << 20, 1 << 18), one.expand(1 << 18, 1))"

# For each kind, the changed parts of the kernel, and the error class in which it must end (None: accepted).
KINDS = {
    "good": ({}, None),
    "wrong": ({"factor": "3.0"}, "wrong_value"),
    "out of bounds": ({"offset": " + 5", "mask": "offsets > -1"}, "out_of_bounds"),
    "illegal address": ({"offset": " + 17179869184", "mask": "offsets > -1"}, "out_of_bounds"),
    "raises": ({"before": "raise ValueError('no')"}, "exception"),
    "does not compile": ({"factor": "missing_name"}, "compile_error"),
    "hangs": ({"before": "while True: pass"}, "timeout"),
    "endless kernel": ({"loop": ENDLESS}, "too_large_to_evaluate"),
    "fork bomb": ({"first": "fork = getattr(os, 'fo' + 'rk')\nwhile True: fork()"}, "tampering"),
    "output flood": ({"first": "while True: print('x' * 4096)"}, "output_flood"),
    "full disk": ({"first": "file = getattr(os, 'op' + 'en')('big', 66, 384)\n"
                            "while True: getattr(os, 'wri' + 'te')(file, b'x' * 1048576)"}, "tampering"),
    "takes all memory": ({"first": "hoard = bytearray(1 << 36)"}, "exception"),
    "asks for too much": ({"before": "torch.zeros(1 << 38, device=x.device, dtype=torch.int8)"}, "too_large_to_evaluate"),
    "out of GPU memory": ({"before": HIDDEN_COPY}, "too_large_to_evaluate"),
    "kills itself": ({"first": "getattr(os, 'ki' + 'll')(os.getpid(), 9)"}, "tampering"),
}
OFTEN = (["good"] * 30 + ["wrong"] * 8 + ["out of bounds"] * 4 + ["raises"] * 4 + ["does not compile"] * 2
         + ["fork bomb", "output flood", "full disk", "takes all memory", "asks for too much", "out of GPU memory"])
# These kinds are expensive: a job that missed its deadline is tried again alone, for seconds, and others end a referee.
RARE = ["hangs", "endless kernel", "illegal address", "kills itself"]
ON_A_GPU = {"endless kernel": "timeout"}  # a GPU has no limit but the clock
ENDS_ITS_REFEREE = ("illegal address", "endless kernel")  # on a GPU, where these destroy the CUDA context
POLICIES = {"out of GPU memory": "open"}  # a stricter policy refuses the source, because PyTorch computes too much


def kind_of(number, one_rare_in, random_choice):
    rare = number % one_rare_in == min(30, one_rare_in - 1)
    return RARE[number // one_rare_in % len(RARE)] if rare else random_choice(OFTEN)


def kernel_source(kind, number):
    parts = {"offset": "", "factor": "2.0", "mask": "mask", "before": "pass", "loop": "", "first": "",
             "salt": repr(1.0 / (1 + number))}
    return KERNEL.format(**{**parts, **KINDS[kind][0]})


def referee_seconds(verdict):
    return dict(verdict.get("stage_ms", [])).get("referee", 0) / 1e3


def shows_it_works(verdict):
    return verdict["accepted"] and (verdict["backend"] != "replay" or "time_ms" in verdict)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Processes:
    """The processes below the service, by kind."""

    def __init__(self, root):
        children = collections.defaultdict(list)
        self.ages = {}
        now = float(open("/proc/uptime").read().split()[0])
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    fields = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()
                except OSError:
                    continue
                children[int(fields[1])].append(int(name))
                self.ages[int(name)] = now - int(fields[19]) / os.sysconf("SC_CLK_TCK")
        self.kinds = collections.defaultdict(list)
        for child in children[root]:
            # Spare referees wait beside those that serve. A kill may hit either.
            is_referee = "gym-referee" in self.command(child)
            self.kinds["referee" if is_referee else "zygote"].append(child)
            for grandchild in () if is_referee else children[child]:
                if "ptxas" in self.command(grandchild):  # a zygote runs ptxas itself while it warms up
                    self.kinds["ptxas"].append(grandchild)
                    continue
                # A guest lives for a fraction of a second. A process that lives longer is a compile worker.
                self.kinds["guest" if self.ages[grandchild] < 1 else "compiler"].append(grandchild)
                self.kinds["ptxas"] += children[grandchild]
        self.kinds["service"] = [root]

    @staticmethod
    def command(pid):
        try:
            return open(f"/proc/{pid}/cmdline").read()
        except OSError:
            return ""

    def all(self):
        return {pid for pids in self.kinds.values() for pid in pids}


class Service:
    def __init__(self, binary, folder, settings):
        self.binary, self.folder, self.port = binary, folder, free_port()
        self.settings = [f"unfinished_jobs={max(60, 12 * os.cpu_count())}", "judge.capture.capture_seconds=4",
                         "finished_jobs=1000000", "judge.referee_seconds=3", *settings]
        self.log = open(os.path.join(folder, "service.log"), "ab")
        self.temporary = os.path.join(folder, "tmp")
        os.chmod(folder, 0o711)  # guests run as users of their own and must pass this folder
        os.mkdir(self.temporary, 0o711)
        self.seen = set()  # every process that was ever below it
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "gym", "serve", "--listen", f"127.0.0.1:{self.port}", "--dir", os.path.join(self.folder, "gym"),
             *(part for setting in self.settings for part in ("--set", setting))],
            stdout=self.log, stderr=self.log, env={**os.environ, "TMPDIR": self.temporary})
        for _ in range(600):
            if self.process.poll() is not None:
                raise SystemExit(f"the service ended: {open(self.log.name).read()[-2000:]}")
            try:
                if self.ask("GET", "/healthz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise SystemExit("the service does not answer")

    def ask(self, method, path, body=None, timeout=30):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read() or b"null")
        finally:
            connection.close()

    def processes(self):
        found = Processes(self.process.pid)
        self.seen |= found.all()
        return found


class Soak:
    def __init__(self, service, options):
        self.service, self.options = service, options
        self.random = random.Random(options.seed)
        self.expected = {}  # job -> kind
        self.verdicts = collections.defaultdict(list)
        self.moments = {}  # job -> when its verdict came
        self.kills = collections.Counter()
        self.reached_before = set()  # jobs whose verdict a service had reached before it was killed
        self.last_kill = None  # moment and kind of the last kill, until the next verdict
        self.unserved = []  # faults, as moment and kind, that no right verdict has followed
        self.again = collections.defaultdict(list)  # by kind, the seconds from each fault to the first right verdict
        self.trouble = []
        self.pauses = collections.defaultdict(list)  # seconds from a kill of each kind to the next verdict
        self.asked_after = {}  # urgent jobs sent after a kill -> its moment and kind
        self.rounds = collections.defaultdict(list)  # seconds from a kill to the verdict of the urgent job
        self.is_starting = False  # the killed service starts again; until it runs, verdicts are those of the old one
        self.history = []  # moments, each with the process that was killed or the verdict that came
        self.longest = {}  # for each kind of fault, begin and end of the longest wait for a right verdict
        self.lock = threading.Lock()
        self.spare = threading.Event()  # set when there must be no more kills
        self.over = threading.Event()

    def submit(self, batch, priority="normal"):
        """Submits jobs in one request. `batch` holds pairs of a kind and a number. Returns the jobs' names."""
        jobs = [{"task": {"id": f"{kind} {number}", "source": TASK}, "kernel": kernel_source(kind, number),
                 "policy": POLICIES.get(kind, "strict")} for kind, number in batch]
        body = json.dumps({"client": "soak", "backend": self.options.backend, "priority": priority, "jobs": jobs})
        while True:
            try:
                status, reply = self.service.ask("POST", "/v1/jobs", body)
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)  # the service was killed and may or may not have the jobs, so they are sent again
                continue
            if status == 202:
                with self.lock:
                    self.expected.update({job["id"]: kind for job, (kind, _) in zip(reply["jobs"], batch)})
                return [job["id"] for job in reply["jobs"]]
            if status not in (429, 503):
                raise SystemExit(f"a submission ended in {status}: {reply}")
            time.sleep(0.02)

    def listen(self):
        last = ""
        while not self.over.is_set():
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=20)
                connection.request("GET", "/v1/verdicts?client=soak", headers={"Last-Event-ID": last} if last else {})
                name = ""
                for line in connection.getresponse():
                    line = line.decode().rstrip("\n")
                    if line.startswith("id: "):
                        name = line[4:]
                    if line.startswith("data: "):
                        event = json.loads(line[6:])
                        with self.lock:
                            self.note(event["id"], event["verdict"], time.monotonic())
                        last = name
                    if self.over.is_set():
                        return
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.05)

    def note(self, job, verdict, now):
        self.verdicts[job].append(verdict)
        self.moments[job] = now
        judged = verdict["task"].rpartition(" ")[0]
        self.history.append((now, f"{judged} ({referee_seconds(verdict):.1f} s of a referee)"))
        if self.last_kill is not None:
            moment, kind = self.last_kill
            self.pauses[kind].append(now - moment)
            self.last_kill = None
        if self.is_starting or job in self.reached_before:
            return
        began = now - referee_seconds(verdict)
        if judged in ENDS_ITS_REFEREE and verdict["backend"] == "replay" and verdict["fault"] == "candidate":
            self.unserved.append((began, judged))  # the kernel held the GPU from this moment on
        if not shows_it_works(verdict):
            return
        waiting = []
        for moment, kind in self.unserved:
            if began < moment:
                waiting.append((moment, kind))
            else:
                self.again[kind].append(now - moment)
                if now - moment == max(self.again[kind]):
                    self.longest[kind] = moment, now
        self.unserved = waiting

    def note_reached_before(self):
        """Notes the jobs whose verdict the killed service had reached. The new service delivers these long before it can
        judge itself."""
        for job in [job for job in list(self.expected) if job not in self.verdicts]:
            try:
                _, reply = self.service.ask("GET", f"/v1/jobs/{job}")
            except (OSError, http.client.HTTPException):
                reply = {"verdict": "not known"}
            if "verdict" in reply:
                self.reached_before.add(job)

    def injure(self):
        """Kills a random process of each kind in turn, at random moments. It begins when the service works."""
        victims = ["guest", "compiler", "referee", "ptxas", "guest", "zygote", "referee", "guest", "service"]
        count = 0
        self.await_verdicts(3)
        while not self.spare.wait(self.random.expovariate(1 / self.options.pause)):
            kind = victims[count % len(victims)]
            for _ in range(200):
                pids = self.service.processes().kinds[kind]
                if pids or self.spare.is_set():
                    break
                time.sleep(0.01)
            if not pids:
                continue
            self.is_starting = kind == "service"
            try:
                os.kill(self.random.choice(pids), signal.SIGKILL)
            except ProcessLookupError:
                self.is_starting = False
                continue
            self.kills[kind] += 1
            moment = time.monotonic()
            with self.lock:
                self.last_kill = self.last_kill or (moment, kind)
                self.history.append((moment, f"{kind} killed"))
                if kind != "service":
                    self.unserved.append((moment, kind))
            count += 1
            if kind == "service":
                self.service.process.wait()
                try:
                    self.service.start()
                except SystemExit as end:  # it ends only this thread
                    self.trouble.append(str(end))
                    return
                self.note_reached_before()
                with self.lock:
                    self.unserved.append((moment, kind))
                    self.is_starting = False
            for job in self.submit([("good", 10**6 + count)], "high"):
                self.asked_after[job] = moment, kind
            if kind in ("service", "zygote"):  # with kills during its start, none would ever work
                self.await_verdicts(len(self.verdicts) + 3)

    def await_verdicts(self, count):
        deadline = time.monotonic() + 120
        while len(self.verdicts) < count and time.monotonic() < deadline and not self.spare.wait(0.1):
            pass

    def await_all(self):
        deadline = time.monotonic() + 300
        while len(self.verdicts) < len(self.expected) and time.monotonic() < deadline and not self.trouble:
            time.sleep(0.05)

    def run(self):
        workers = [threading.Thread(target=work, daemon=True) for work in (self.listen, self.injure)]
        for worker in workers:
            worker.start()
        start = time.monotonic()
        numbers = iter(range(self.options.jobs))
        while time.monotonic() - start < self.options.seconds:
            batch = [(kind_of(number, self.options.rare, self.random.choice), number)
                     for number in itertools.islice(numbers, self.options.batch)]
            if not batch:
                break
            self.submit(batch)
        self.await_all()
        self.spare.set()
        workers[1].join()  # it may still start the service again, or send a job after its last kill
        self.await_all()
        seconds = time.monotonic() - start
        time.sleep(0.5)  # a duplicate verdict would come now
        self.over.set()
        return seconds

    @staticmethod
    def wanted(kind, verdict):
        on_gpu = ON_A_GPU if verdict["backend"] == "replay" else {}
        return on_gpu.get(kind, KINDS[kind][1])

    def faults(self):
        found = list(self.trouble)
        count = self.count = collections.Counter(verdicts=sum(map(len, self.verdicts.values())))
        for job, kind in self.expected.items():
            verdicts = self.verdicts.get(job, [])
            if len(verdicts) != 1:
                count["doubled" if verdicts else "lost"] += 1
                found.append(f"{kind}: {len(verdicts)} verdicts for {job}")
                continue
            verdict = verdicts[0]
            error = (verdict.get("error") or {}).get("class")
            if verdict["fault"] == "infrastructure":
                count["infrastructure"] += 1
            elif error != self.wanted(kind, verdict) or verdict["accepted"] != (error is None):
                count["wrong"] += 1
                found.append(f"{kind}: {error}: {json.dumps(verdict)[:600]}")
        found += [f"a verdict for {job}, which nobody submitted" for job in self.verdicts if job not in self.expected]
        if count["infrastructure"] > max(1, len(self.expected) // 50):
            found.append(f"{count['infrastructure']} infrastructure faults")
        for kind, pauses in self.pauses.items():
            if max(pauses) > self.options.serve_again:
                found.append(f"after a kill of {kind} {max(pauses):.1f} s passed without a verdict")
        for kind, seconds in self.again.items():
            if max(seconds) > self.options.serve_again:
                found.append(f"after {self.fault_text(kind)} {max(seconds):.1f} s passed until a right kernel had its verdict; "
                             f"meanwhile: {self.meanwhile(*self.longest[kind])}")
        return found

    def meanwhile(self, start, end):
        return ", ".join(f"{moment - start:.1f} s {what}" for moment, what in sorted(self.history) if start < moment <= end)

    @staticmethod
    def fault_text(kind):
        return f"a kernel of kind '{kind}'" if kind in ENDS_ITS_REFEREE else f"a kill of {kind}"

    def print_table(self, seconds):
        kinds = collections.Counter(self.expected.values())
        print("jobs: " + ", ".join(f"{kind} {kinds[kind]}" for kind in KINDS if kinds[kind]))
        for job, (moment, kind) in self.asked_after.items():
            if job in self.moments:
                self.rounds[kind].append(self.moments[job] - moment)
        print("| killed, or broken by | times | next verdict after it: median | longest | right verdict begun after it: median "
              "| longest | verdict of a job sent after it: median | longest |")
        print("|---|---|---|---|---|---|---|---|")
        broken = {kind: len(self.again[kind]) for kind in ENDS_ITS_REFEREE if self.again[kind]}
        for kind, times in sorted({**self.kills, **broken}.items()):
            cells = [f"{of(measured):.2f} s" if measured else "-"
                     for measured in (self.pauses[kind], self.again[kind], self.rounds[kind]) for of in (statistics.median, max)]
            print(f"| {kind} | {times} | " + " | ".join(cells) + " |")
        count = self.count
        longest, right = (max([0, *itertools.chain(*by_kind.values())]) for by_kind in (self.pauses, self.again))
        print(f"{len(self.expected)} jobs in {seconds:.0f} s ({len(self.expected) / seconds:.1f}/s), {count['verdicts']} verdicts, "
              f"{count['wrong']} wrong, {count['lost']} lost, {count['doubled']} doubled, {count['infrastructure']} infrastructure "
              f"faults; {sum(self.kills.values())} kills, again after {longest:.1f} s at the longest, right kernels after "
              f"{right:.1f} s")


def left_behind(service):
    files = [f"a temporary file was left behind: {name}" for name in os.listdir(service.temporary)]
    return files + living(service)


def living(service):
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        left = [pid for pid in service.seen
                if any(name in Processes.command(pid) for name in ("tritonsmith", "gym-referee"))]
        if not left:
            return []
        time.sleep(0.1)
    return [f"process {pid} was left behind: {Processes.command(pid)[:200]!r}" for pid in left]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--jobs", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=1e9, help="of submitting; what is unfinished then is waited for")
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between two kills, on average")
    parser.add_argument("--rare", type=int, default=100, help="one in so many jobs is of a kind that stops all others for seconds")
    parser.add_argument("--batch", type=int, default=4, help="jobs of one request")
    parser.add_argument("--backend", default="auto", help="of all jobs: auto, evaluate, replay")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the service")
    parser.add_argument("--serve-again", type=float, default=60, help="seconds after a kill, at most, until a verdict comes")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        service = Service(options.binary, folder, options.set)
        soak = Soak(service, options)
        seconds = soak.run()
        service.processes()
        service.process.terminate()
        if service.process.wait(30) != 0:
            raise SystemExit("the service did not end in good order")
        found = soak.faults() + left_behind(service)
        soak.print_table(seconds)
        if found:
            print(open(service.log.name).read()[-3000:], *found[:20], sep="\n")
        print("every job had its one verdict" if not found else f"{len(found)} faults")
        sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
