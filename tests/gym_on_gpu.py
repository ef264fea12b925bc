"""All that the gym must show on one GPU, in one call of at most nine minutes; a short table comes last.

usage: gym_on_gpu.py PROGRAMS [--seconds S] [--kernelbench FOLDER] [--only TEXT]

PROGRAMS is a build folder, or a folder that holds the programs: tritonsmith, tritonsmith-referee, referee_gpu_test,
timing_gpu_test, judge_corpus, replay_throughput, replay_tasks. Each step is cut off after its share of the time; what a step
measured stands in the table with what is asked of it. Steps that need a GPU say so where there is none. Exit code 1 when a
step failed.
"""

import argparse
import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parent
RELU_TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.rand({rows}, {columns})]

def get_init_inputs():
    return []
"""
RELU_KERNEL = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, tl.maximum(x, 0.0), mask=offsets < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        relu[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel(), BLOCK=4096)
        return y
"""


class Failed(Exception):
    pass


class Programs:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        os.environ.setdefault("TRITONSMITH_REFEREE", self.path("tritonsmith-referee"))

    def path(self, name):
        found = [path for path in self.folder.rglob(name) if path.is_file() and os.access(path, os.X_OK)]
        if not found:
            raise Failed(f"{name} is not below {self.folder}")
        return str(found[0])


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else "(nothing was printed)"


def run(seconds, *command, fails=True):
    """Its standard output; what it wrote goes to ours as well."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               start_new_session=True)
    try:
        out, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        out, _ = process.communicate()
        print(out)
        raise Failed(f"cut off after {seconds:.0f} s: {last_line(out)}") from None
    print(out)
    if fails and process.returncode:
        raise Failed(last_line(out))
    return out


def number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise Failed(f"no {pattern!r} in what was printed")
    return float(found.group(1))


class Service:
    """`gym serve` for steps that want a warm judge."""

    def __init__(self, programs, folder, *settings):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        words = [word for setting in settings for word in ("--set", setting)]
        self.process = subprocess.Popen([programs.path("tritonsmith"), "gym", "serve", "--listen", f"127.0.0.1:{self.port}",
                                         "--dir", folder, *words], stderr=subprocess.DEVNULL)

    def ask(self, method, path, body=None):
        deadline = time.monotonic() + 30
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
            try:
                connection.request(method, path, body and json.dumps(body))
                return json.loads(connection.getresponse().read())
            except OSError:
                if time.monotonic() > deadline:
                    raise Failed("the service does not answer") from None
                time.sleep(0.1)
            finally:
                connection.close()

    def judge(self, task, kernel, **more):
        job = self.ask("POST", "/v1/jobs", {"task": {"source": task}, "kernel": kernel, **more})
        return self.ask("GET", f"/v1/jobs/{job['id']}?wait=300")["verdict"]

    def judge_together(self, jobs):
        """Pairs of a task and a kernel, in one request. Of each its verdict, and the seconds until it was there."""
        start = time.monotonic()
        sent = self.ask("POST", "/v1/jobs", {"jobs": [{"task": {"source": task}, "kernel": kernel} for task, kernel in jobs]})

        def await_one(job):
            return self.ask("GET", f"/v1/jobs/{job['id']}?wait=300")["verdict"], time.monotonic() - start
        with concurrent.futures.ThreadPoolExecutor(len(jobs)) as pool:
            return list(pool.map(await_one, sent["jobs"]))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.terminate()
        self.process.wait(30)


# The steps. Each gives what is to stand in the table, or raises Failed.

def unit_tests(programs, seconds, options):
    # A layer's tests for a GPU are one program, named by the layer's folder (cmake/folder.cmake).
    layers = sorted({path.parent.name for path in (TESTS.parent / "src/gym").rglob("*_gpu_test.cc")})
    end = time.monotonic() + seconds
    texts = []
    for layer in layers:
        # A program that fails ends with an exit code: `run` raises. One that skips its tests has shown nothing.
        out = run(end - time.monotonic(), programs.path(f"{layer}_gpu_test"), "--gtest_brief=1")
        passed = number(r"\[  PASSED  \] (\d+)", out)
        if not passed or "[  SKIPPED ]" in out:
            raise Failed(f"{layer}: {last_line(out)}")
        texts.append(f"{layer} {passed:.0f}")
    return ", ".join(texts)


def corpora(programs, seconds, options):
    return last_line(run(seconds, programs.path("judge_corpus"), "agree", "--tests", TESTS, "--referee",
                         programs.path("tritonsmith-referee")))


def throughput(programs, seconds, options):
    cores = os.cpu_count() or 2
    out = run(seconds, programs.path("replay_throughput"), 500, max(2, cores - 2), max(1, 3 * cores // 4))
    rate = number(r"([\d.]+) verdicts/s", out)
    accepted = number(r"; (\d+) accepted", out)
    near = [number(rf"{side}: .* within 1 % of their median \(([\d.]+) %\)", out) for side in ("candidates", "references")]
    text = (f"{rate:.1f} verdicts/s, {accepted:.0f} of 500 accepted; intervals within 1 %: {near[0]:.1f} % of the candidates', "
            f"{near[1]:.1f} % of the references'")
    if rate < 50:
        raise Failed(text)
    return text


def large_shapes(programs, seconds, options):
    out = run(seconds, programs.path("replay_throughput"), 24, 8, 4, 4096, 393216)
    rate = number(r"([\d.]+) verdicts/s", out)
    if rate < 2:
        raise Failed(f"{rate:.2f} verdicts/s")
    return f"{rate:.2f} verdicts/s"


def repeats(programs, seconds, options):
    out = run(seconds / 2, programs.path("replay_throughput"), 1, 4, 2, 2048, 16384, 20)
    found = re.findall(r"kernel (\d): \d+ medians from ([\d.]+) to ([\d.]+) ms, ([\d.]+) % apart; a verdict alone took (\d+)", out)
    if len(found) != 4:
        raise Failed(last_line(out))
    texts, wrong = [], False
    bench = {}
    with tempfile.TemporaryDirectory() as folder:
        run(30, programs.path("replay_throughput"), "--write", folder)
        for name, low, high, apart, alone in found:
            if name not in bench:
                bench[name] = run(seconds / 4, sys.executable, TESTS.parent / "bench/do_bench.py", f"{folder}/task_{name}.py",
                                  f"{folder}/kernel_{name}.py")
            theirs = number(r"candidate ([\d.]+)", bench[name])
            off = 100 * ((float(low) + float(high)) / 2 / theirs - 1)
            texts.append(f"{apart} % apart, {off:+.1f} % of do_bench, {alone} ms alone")
            wrong = wrong or float(apart) > 1 or abs(off) > 3 or float(alone) > 1000
    if wrong:
        raise Failed("; ".join(texts))
    return "; ".join(texts)


def alike(programs, seconds, options):
    out = run(seconds, programs.path("replay_tasks"), TESTS / "tasks", "gpu", 20, fails=False)
    return last_line([line for line in out.splitlines() if " tasks in " in line][-1])


def memory(programs, seconds, options):
    """Small jobs between large ones and such as fit no GPU, sent at once: how long the small ones waited."""
    small, large, too_large = (64, 64), (4096, 393216), (65536, 1048576)
    order = ([large] + [small] * 4 + [too_large] + [small] * 4) * 3

    def job(number, shape):
        # A comment sets jobs apart that are equal otherwise.
        return RELU_TASK.format(rows=shape[0], columns=shape[1]), f"# {number}\n" + RELU_KERNEL
    with tempfile.TemporaryDirectory() as folder, Service(programs, folder, "judge.referee_seconds=60") as service:
        service.judge(*job(-1, small))
        (_, alone), = service.judge_together([job(-2, small)])
        judged = service.judge_together([job(number, shape) for number, shape in enumerate(order)])
    for shape, (verdict, _) in zip(order, judged):
        if verdict["accepted"] != (shape != too_large) or verdict["backend"] != "replay":
            raise Failed(f"{shape}: {json.dumps(verdict)[:400]}")
        if shape == too_large and verdict["error"]["class"] != "too_large_to_evaluate":
            raise Failed(json.dumps(verdict["error"]))
    waits = [wait for shape, (_, wait) in zip(order, judged) if shape == small]
    text = (f"{len(waits)} small beside 3 of 6.4 GB and 3 of 275 GB (too large): waited {statistics.median(waits):.2f} s, "
            f"the longest {max(waits):.2f} of {max(wait for _, wait in judged):.2f} s for all; one alone {alone:.2f} s")
    if max(waits) > 10:
        raise Failed(text)
    return text


def baselines(programs, seconds, options):
    with tempfile.TemporaryDirectory() as folder:
        with Service(programs, folder, 'judge.baselines=["eager", "torch_compile"]') as service:
            verdict = service.judge(RELU_TASK.format(rows=2048, columns=16384), RELU_KERNEL)
    found = {name: timing["median"] for name, timing in verdict.get("baselines", {}).items()}
    if set(found) != {"eager", "torch_compile"}:
        print(json.dumps(verdict))
        raise Failed(json.dumps(verdict)[:600])
    return (f"kernel {verdict['time_ms']['median']:.4f}, replayed {verdict['reference_ms']['median']:.4f}, "
            f"eager {found['eager']:.4f}, torch.compile {found['torch_compile']:.4f} ms")


def python_reference(programs, seconds, options):
    source = {name: (TESTS / name).read_text() for name in (
        "tasks/scaled_by_largest.py", "honest/files/scaled_by_largest__two_passes.py", "hostile/files/d01_largest_is_four.py")}
    task, right, wrong = source.values()
    with tempfile.TemporaryDirectory() as folder, Service(programs, folder) as service:
        verdict, refused = service.judge(task, right), service.judge(task, wrong)
    if not verdict["accepted"] or verdict["reference"] != "shell" or "reference_ms" not in verdict:
        raise Failed(json.dumps(verdict)[:600])
    if refused["accepted"] or refused["error"]["class"] != "wrong_value":
        raise Failed(json.dumps(refused)[:600])
    return f"kernel {verdict['time_ms']['median']:.4f}, eager {verdict['reference_ms']['median']:.4f} ms; a wrong one is refused"


def faults(programs, seconds, options):
    out = run(seconds, sys.executable, TESTS / "soak.py", programs.path("tritonsmith"), "--seconds", seconds / 2, "--pause", 1,
              "--serve-again", 10)
    return last_line(re.search(r"\d+ jobs in .*", out).group(0)) + "; " + last_line(out)


def kernelbench(programs, seconds, options):
    if not options.kernelbench:
        return "left out: no folder was given"
    out = run(seconds, programs.path("replay_tasks"), options.kernelbench, "gpu", 30, 0.4, fails=False)
    found = [line for line in out.splitlines() if " tasks in " in line][-1]
    tasks, right = (number(pattern, found) for pattern in (r"(\d+) tasks in", r"(\d+) replayed right"))
    if tasks != right:
        raise Failed(found)
    return found


STEPS = [  # name, share of the time, what is asked, how
    ("unit tests", 60, "all pass", unit_tests),
    ("corpora, both backends", 170, "no disagreement", corpora),
    ("500 small kernels", 60, "at least 50/s", throughput),
    ("4096 x 393216", 80, "at least 2/s", large_shapes),
    ("20 repeats, do_bench", 70, "1 %, 3 %, under 1 s", repeats),
    ("a plan against itself", 60, "medians alike", alike),
    ("memory", 40, "neither fails nor starves", memory),
    ("baselines", 60, "eager and torch.compile", baselines),
    ("Python reference", 40, "right and wrong kernels of what has no plan", python_reference),
    ("faults", 90, "one right verdict each, again in 10 s", faults),
    ("KernelBench", 330, "all replay", kernelbench),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--seconds", type=float, default=530, help="for all of it")
    parser.add_argument("--kernelbench", help="a folder of tasks in KernelBench's format")
    parser.add_argument("--only", default="", help="steps whose name holds this")
    options = parser.parse_args()
    programs = Programs(options.programs)
    end = time.monotonic() + options.seconds
    table = []
    for name, share, wanted, step in STEPS:
        if options.only not in name:
            continue
        print(f"== {name}", flush=True)
        left, start = end - time.monotonic(), time.monotonic()
        try:
            told = ("ok", step(programs, min(share, left), options)) if left > 5 else ("NO TIME", "")
        except Failed as why:
            told = ("FAILED", str(why))
        except (KeyError, IndexError, ValueError, AttributeError, subprocess.SubprocessError) as why:
            told = ("FAILED", f"{type(why).__name__}: {why}")
        table.append((name, wanted, f"{time.monotonic() - start:.0f} s", *told))
    print()
    for name, wanted, took, how, what in table:
        print(f"{how:<8} {name:<24} {took:>6}  [{wanted}] {what[:160]}")
    sys.exit(any(row[3] != "ok" for row in table))


main()
