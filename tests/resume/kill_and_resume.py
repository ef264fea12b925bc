#!/usr/bin/env python3
"""Checks that a run which is killed 20 times ends with the weights of an undisturbed run, bit for bit.

  kill_and_resume.py           sft, and rl with a judge that needs no guests (part of `make test`)
  kill_and_resume.py --full    the same with another seed each time, and `tritonsmith rl` with the real gym (minutes)

Each kill waits for a moment: while a checkpoint is written, while a kernel is judged, or any. All kills are SIGKILL.
"""
import argparse
import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

from runs import PROBE, TRITONSMITH, assert_same_run, call, last_checkpoint, make_data, sft_command

KILLS = 20
DEADLINE_S = 300


def is_writing_checkpoint(run):
    """Whether the run's folder holds a half-written checkpoint."""
    checkpoints = run / "checkpoints"
    return checkpoints.is_dir() and any(name.startswith(".writing") for name in os.listdir(checkpoints))


def wait_until(process, condition):
    """Waits until the condition holds. Returns False if the process ends first."""
    give_up = time.monotonic() + DEADLINE_S
    while not condition():
        if process.poll() is not None:
            return False
        assert time.monotonic() < give_up, "the run does not come to the moment that is waited for"
        time.sleep(0.0003)
    return True


class Steps:
    """Counts the steps that a run has recorded."""

    def __init__(self, run):
        self.file = run / "steps.jsonl"

    def count(self):
        return self.file.read_bytes().count(b"\n") if self.file.exists() else 0


def kill_once(command, run, moment, luck, is_judging):
    """Starts the run and kills it at the moment. Returns what the run was doing, or None if it ended first."""
    before = Steps(run).count()
    ahead = luck.randint(0, 1)
    process = subprocess.Popen([str(each) for each in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.set_blocking(process.stdout.fileno(), False)
    try:
        reached = wait_until(process, lambda: Steps(run).count() >= max(1, before - 1) + ahead)
        if reached and moment == "checkpoint":
            reached = wait_until(process, lambda: is_writing_checkpoint(run))
        elif reached and moment == "judging":
            reached = wait_until(process, is_judging(process, run))
        if reached:
            time.sleep(luck.random() * (0.05 if moment == "any" else 0.002))
    finally:
        process.send_signal(signal.SIGKILL)
        errors = process.stderr.read().decode()
        process.stdout.close()
        process.stderr.close()
        process.wait()
    if not reached or process.returncode != -signal.SIGKILL:
        assert process.returncode in (0, -signal.SIGKILL), f"the run failed by itself: {errors}"
        return None
    return "checkpoint" if is_writing_checkpoint(run) else "judging" if moment == "judging" else "any"


def judges_aloud(process, run):
    """Returns a test for the moment `judging`: the probe prints a line before each verdict."""
    process.stdout.read()  # skips the lines until now
    return lambda: bool(process.stdout.read())


def stores_verdicts(process, run):
    """Returns a test for the moment `judging`: the gym has just stored a verdict and still judges others."""
    log = run / "verdicts.sqlite-wal"
    written_at = lambda: log.stat().st_mtime_ns if log.exists() else 0
    first = written_at()
    return lambda: written_at() != first


def prove(name, command_for, folder, luck, moments, is_judging=None):
    """Compares a killed run with an undisturbed one. `command_for(run)` starts or resumes a run. The kills take the
    `moments` in turn."""
    began = time.monotonic()
    straight, killed = folder / f"{name}-straight", folder / f"{name}-killed"
    call(*command_for(straight))
    if (straight / "judge.secret").exists():  # so that both judges draw the same numbers
        killed.mkdir()
        shutil.copy(straight / "judge.secret", killed)
    tally = collections.Counter()
    for number in range(KILLS):
        doing = kill_once(command_for(killed), killed, moments[number % len(moments)], luck, is_judging)
        assert doing, f"{name}: the run ended after {number} kills; it needs more steps"
        tally[doing] += 1
    call(*command_for(killed))
    assert_same_run(straight, killed)
    assert tally["checkpoint"] >= 3, f"only {tally['checkpoint']} kills hit a checkpoint"
    if is_judging:
        assert tally["judging"] >= 3, f"only {tally['judging']} kills hit the judging"
    hit = ", ".join(f"{count} {what}" for what, count in sorted(tally.items()))
    print(f"{name}: {KILLS} kills ({hit}), "
          f"same weights and records after {Steps(killed).count()} steps ({time.monotonic() - began:.0f} s)", flush=True)


def prove_sft(folder, luck):
    data = folder / "sft"
    data.mkdir()
    make_data(data, tasks=20, hidden_size=32, intermediate_size=64, num_hidden_layers=1, head_dim=8, vocabulary=400)
    settings = {"run__steps": 40, "data__step_tokens": 512, "checkpoint__every": 2, "optimizer__warmup_updates": 5}
    prove("sft", lambda run: sft_command(data, run, **settings), folder, luck, ["checkpoint", "any"])


def prove_rl(folder, luck):
    model = folder / "rl-model"
    call(PROBE, "model", model)
    command = lambda run: [PROBE, "run", run, model, 40]
    prove("rl", command, folder, luck, ["checkpoint", "judging", "any"], judges_aloud)
    ahead = lambda run: [*command(run), 1]
    prove("rl-ahead", ahead, folder, luck, ["checkpoint", "judging", "any"], judges_aloud)


def prove_rl_with_gym(folder, luck):
    """Tests `rl` with the real gym. A small model first learns a few kernels by heart, so that the gym gets kernels."""
    data = folder / "gym"
    data.mkdir()
    make_data(data, tasks=6, hidden_size=64, intermediate_size=128, num_hidden_layers=2, head_dim=16, vocabulary=600)
    call(*sft_command(data, data / "sft", run__steps=120, data__step_tokens=512, optimizer__learning_rate=0.005))
    config = data / "rl.toml"
    config.write_text(f"""
model.path = "{last_checkpoint(data / 'sft')}"
model.device = "cpu"
tasks.path = "{data / 'tasks.jsonl'}"
run.steps = 30
prompt.style = "compact"
rollout.prompts = 2
rollout.samples = 4
rollout.max_new_tokens = 160
optimizer.learning_rate = 1e-3
checkpoint.every = 1
""")
    command = lambda run: [TRITONSMITH, "rl", config, "--set", f"run.dir={run}"]
    prove("rl with the gym", command, folder, luck, ["judging", "checkpoint", "any"], stores_verdicts)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--full", action="store_true")
    arguments.add_argument("--seed", type=int, help="of the moments; --full draws one")
    options = arguments.parse_args()
    seed = options.seed if options.seed is not None else random.randrange(1 << 32) if options.full else 1
    print(f"seed {seed}")
    luck = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="tritonsmith-resume-") as name:
        folder = pathlib.Path(name)
        prove_sft(folder, luck)
        prove_rl(folder, luck)
        if options.full:
            prove_rl_with_gym(folder, luck)


main()
