"""The phases of the study. Each is one call of the program, which goes on where an earlier call was stopped."""
import contextlib
import ctypes
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import time

from cells import BASE, CELLS, TIMED

# The time at the end of a call to finish a step, write a checkpoint, end the gym, sum up and pack.
GRACE_SECONDS = 25
GYM_GRACE_SECONDS = 5
CLOSING_SECONDS = 10

PR_SET_PDEATHSIG = 1


class OutOfTime(Exception):
    pass


def dies_with_us():
    """Makes a child die with its parent, so that a killed study leaves no process that holds its directories."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end(process, seconds=GRACE_SECONDS):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def said_since(log, begins):
    return log.read_bytes()[begins:].decode(errors="replace")


def is_still_held(said):
    """Whether a process of an earlier, just killed study still holds the directory."""
    return "another process is training" in said or "another `gym serve`" in said


def gym_settings():
    """Returns sizes for a gym that uses the whole machine, instead of a service's defaults."""
    cores = len(os.sched_getaffinity(0))
    settings = {"judge.capture.slots": max(2, cores), "judge.capture.compilers": max(1, cores // 2),
                "judge.referees": max(1, cores // 4), "judge.in_flight": max(12, 3 * cores)}
    return [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]


def toml_value(value):
    return json.dumps(value) if not isinstance(value, bool) else str(value).lower()


class Study:
    def __init__(self, binary, out, scale, device, gpu, over_at):
        self.binary, self.out, self.scale = str(binary), pathlib.Path(out), scale
        self.device, self.gpu = device, gpu
        self.stop_at = over_at - GRACE_SECONDS - GYM_GRACE_SECONDS - CLOSING_SECONDS
        self.machine = f"{gpu or 'no GPU'}, {len(os.sched_getaffinity(0))} cores, {platform.machine()}"
        self.url = None
        (self.out / "done").mkdir(parents=True, exist_ok=True)
        (self.out / "logs").mkdir(exist_ok=True)

    # Parts that the commands share.
    @property
    def suite(self):
        return f"quickstart:seed=1,train={self.scale.train},heldout={self.scale.heldout}"

    @property
    def heldout(self):
        return f"quickstart:seed=1,heldout={self.scale.heldout}"

    def sft_model(self):
        return self.out / "sft" / "checkpoints" / f"step-{self.scale.sft_steps}"

    def cell_dir(self, name, seed):
        return self.out / "cells" / f"{name}-seed{seed}"

    def seconds_left(self):
        return self.stop_at - time.monotonic()

    @contextlib.contextmanager
    def gym(self):
        """Starts one judge for all cells. It starts once, and knows the kernels that it judged for earlier cells."""
        log = self.out / "logs" / "gym.log"
        service, self.url = self.start_gym(log)
        try:
            yield
        finally:
            end(service, GYM_GRACE_SECONDS)

    def start_gym(self, log):
        command = [self.binary, "gym", "serve", "--listen", "127.0.0.1:0", "--dir", str(self.out / "gym"),
                   *gym_settings()]
        while self.seconds_left() > 0:
            begins = log.stat().st_size if log.exists() else 0
            with log.open("a") as stderr:
                service = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, preexec_fn=dies_with_us)
            while service.poll() is None and self.seconds_left() > 0:
                found = re.search(r"serving on (\S+:\d+)", said_since(log, begins))
                if found:
                    return service, f"http://{found.group(1)}"
                time.sleep(0.05)
            if service.poll() is None:
                end(service)
            elif not is_still_held(said_since(log, begins)):
                raise SystemExit(f"the gym does not start: {said_since(log, begins)}")
            time.sleep(0.5)
        raise OutOfTime

    def call(self, phase, *arguments, allowed=(0,), at_least=5):
        """Runs one command to its end, unless it has finished before. When the time is over, it stops the command and
        raises OutOfTime. With less than `at_least` seconds left it does not begin."""
        marker, log = self.out / "done" / phase, self.out / "logs" / f"{phase}.log"
        if marker.exists():
            return
        command = [str(each) for each in arguments]
        print(f"{phase} ...", flush=True)
        began = time.monotonic()
        while True:
            if self.seconds_left() < at_least:
                raise OutOfTime
            begins = log.stat().st_size if log.exists() else 0
            code = self.run_until_time_is_over([self.binary, *command], log)
            if code in allowed or not is_still_held(said_since(log, begins)):
                break
            time.sleep(0.5)
        seconds, is_finished = round(time.monotonic() - began, 1), code in allowed
        with (self.out / "times.jsonl").open("a") as times:
            line = {"phase": phase, "seconds": seconds, "finished": is_finished, "machine": self.machine,
                    "date": time.strftime("%Y-%m-%d"), "command": command}
            times.write(json.dumps(line) + "\n")
        if is_finished:
            marker.write_text(f"{seconds}\n")
        elif self.seconds_left() <= 0:
            raise OutOfTime
        else:
            raise SystemExit(f"{phase} failed (exit {code}): {said_since(log, begins)}")

    def make_model(self, phase, model, settings):
        """Writes an untrained model. A command that was stopped may have left a whole or half model, and `model make`
        refuses a directory that holds one, so this removes what an unfinished call left."""
        if not (self.out / "done" / phase).exists():
            shutil.rmtree(model, ignore_errors=True)
        self.call(phase, "model", "make", "--examples", self.out / "examples.jsonl", "--out", model,
                  *[part for each in settings for part in ("--set", each)])

    def run_until_time_is_over(self, command, log):
        with log.open("a") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, preexec_fn=dies_with_us)
            try:
                while process.poll() is None and self.seconds_left() > 0:  # another thread may cut the time short
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(1)
            finally:  # also when the study is told to stop
                if process.poll() is None:
                    end(process)
        return process.returncode

    # The phases.
    def make_data(self):
        shares = [part for name, share in self.scale.shares for part in ("--set", f"teacher.{name}={share}")]
        self.call("tasks", "tasks", "make", "--quickstart", "--seed", 1, "--train", self.scale.train, "--heldout",
                  self.scale.heldout, "--out", self.out / "tasks.jsonl")
        self.call("teach", "tasks", "teach", "--quickstart", "--set", f"curriculum.train={self.scale.train}",
                  "--set", 'teacher.styles=["compact","pair"]', "--set", "teacher.per_task=1",
                  "--set", "teacher.thinking=fusion", *shares, "--policy", "open", "--gym", self.url,
                  "--references", self.out / "references.jsonl", "--out", self.out / "examples.jsonl")

    def warm_up(self):
        self.make_model("model", self.out / "start", self.scale.model)
        config = {
            "run.dir": str(self.out / "sft"), "run.seed": 1, "run.steps": self.scale.sft_steps,
            "model.path": str(self.out / "start"), "model.device": self.device,
            "data.examples": str(self.out / "examples.jsonl"), "data.step_tokens": self.scale.sft_tokens,
            "data.max_tokens": 640, "optimizer.learning_rate": 3e-3, "optimizer.warmup_updates": 50,
            "checkpoint.every": 200, "checkpoint.keep_last": 1,
        }
        self.call("sft", "sft", self.write_config("sft", config))

    def write_config(self, name, settings):
        file = self.out / "configs" / f"{name}.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(f"{key} = {toml_value(value)}\n" for key, value in settings.items()))
        return file

    def evaluate(self, name, model, turns, policy):
        more = ["--turns", turns, "--end-when", "accepted"] if turns > 1 else []
        self.call(f"eval-{name}", "eval", "--suite", self.heldout, "--model", model, "--out",
                  self.out / "eval" / name, "--name", name, "--samples", self.scale.samples, "--max-tokens",
                  self.scale.new_tokens, "--policy", policy, "--prompt-style", "compact", "--trials", self.scale.trials,
                  "--device", self.device, "--gym", self.url, *more)

    def train(self, name, seed):
        cell, run = CELLS[name], self.cell_dir(name, seed)
        settings = {
            **BASE, "run.dir": str(run), "run.seed": seed, "run.steps": self.scale.steps,
            "model.path": str(self.sft_model()), "model.device": self.device,
            "tasks.path": str(self.out / "tasks.jsonl"), "rollout.prompts": self.scale.prompts,
            "rollout.samples": self.scale.group, "rollout.max_new_tokens": self.scale.new_tokens,
            "judge.trials": self.scale.trials, **cell.settings, **(TIMED if cell.needs_timing else {}),
        }
        if "reward.similarity" in cell.settings:
            settings["tasks.references"] = str(self.out / "references.jsonl")
        self.call(f"rl-{name}-seed{seed}", "rl", self.write_config(f"{name}-seed{seed}", settings), "--gym", self.url)

    def rejudge(self, name, seed):
        """Judges rewarded kernels again, on other shapes and distributions, with four times the trials and all checks."""
        limit = ["--limit", self.scale.rejudged] if self.scale.rejudged else []
        self.call(f"rejudge-{name}-seed{seed}", "rejudge", self.cell_dir(name, seed) / "samples.jsonl", "--suite",
                  self.suite, "--rewarded", "--trials", 4 * self.scale.trials, "--policy", CELLS[name].policy, "--backend",
                  "evaluate", "--use-store", "--out", self.cell_dir(name, seed) / "rejudge.json", "--gym", self.url,
                  *limit, allowed=(0, 1), at_least=self.scale.rejudge_seconds)

    def rejudge_all(self, names, seeds):
        for seed in seeds:
            for name in names:
                if (self.out / "done" / f"rl-{name}-seed{seed}").exists():
                    self.rejudge(name, seed)

    def run(self, names, seeds):
        self.make_data()
        self.warm_up()
        starts = {CELLS[name].start: CELLS[name] for name in ["grpo", *names]}
        for start, cell in starts.items():
            self.evaluate(start, self.sft_model(), cell.turns, cell.policy)
        for seed in seeds:
            for name in names:
                self.train(name, seed)
                model = self.cell_dir(name, seed) / "checkpoints" / f"step-{self.scale.steps}"
                self.evaluate(f"{name}-seed{seed}", model, CELLS[name].turns, CELLS[name].policy)
        self.rejudge_all(names, seeds)

    def write_report(self):
        runs = [folder for folder in ("eval", "sft", "cells") if any((self.out / folder).glob("*"))]
        subprocess.run([self.binary, "report", *(str(self.out / folder) for folder in runs), "--baseline", "sft",
                        "--html", str(self.out / "report.html"), "--markdown", str(self.out / "report.md")],
                       check=True, stdout=subprocess.DEVNULL)
