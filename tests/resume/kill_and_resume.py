#!/usr/bin/env python3
"""A run that is killed 20 times ends with the weights of one that was left alone, bit for bit.

Supervised fine-tuning. Each kill waits for its moment: a checkpoint being written, or any. Kills are SIGKILL.
"""
import argparse
import collections
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time

from runs import assert_same_run, call, make_data, sft_command

KILLS = 20
DEADLINE_S = 300


def is_writing_checkpoint(run):
    """Whether a checkpoint lies there half written."""
    checkpoints = run / "checkpoints"
    return checkpoints.is_dir() and any(name.startswith(".writing") for name in os.listdir(checkpoints))


def wait_until(process, condition):
    """False when the process ended first."""
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


def kill_once(command, run, moment, luck):
    """Starts the run, kills it at its moment. Returns what it was doing, or None when it ended first."""
    before = Steps(run).count()
    ahead = luck.randint(0, 1)
    process = subprocess.Popen([str(each) for each in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.set_blocking(process.stdout.fileno(), False)
    try:
        reached = wait_until(process, lambda: Steps(run).count() >= max(1, before - 1) + ahead)
        if reached and moment == "checkpoint":
            reached = wait_until(process, lambda: is_writing_checkpoint(run))
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
    return "checkpoint" if is_writing_checkpoint(run) else "any"


def prove(name, command_for, folder, luck, moments):
    """`command_for(run)` starts or goes on with a run; `moments` are drawn from in turn."""
    began = time.monotonic()
    straight, killed = folder / f"{name}-straight", folder / f"{name}-killed"
    call(*command_for(straight))
    tally = collections.Counter()
    for number in range(KILLS):
        doing = kill_once(command_for(killed), killed, moments[number % len(moments)], luck)
        assert doing, f"{name}: the run ended after {number} kills; it needs more steps"
        tally[doing] += 1
    call(*command_for(killed))
    assert_same_run(straight, killed)
    assert tally["checkpoint"] >= 3, f"only {tally['checkpoint']} kills hit a checkpoint"
    hit = ", ".join(f"{count} {what}" for what, count in sorted(tally.items()))
    print(f"{name}: {KILLS} kills ({hit}), "
          f"same weights and records after {Steps(killed).count()} steps ({time.monotonic() - began:.0f} s)", flush=True)


def prove_sft(folder, luck):
    data = folder / "sft"
    data.mkdir()
    make_data(data, tasks=20, hidden_size=32, intermediate_size=64, num_hidden_layers=1, head_dim=8, vocabulary=400)
    settings = {"run__steps": 40, "data__step_tokens": 512, "checkpoint__every": 2, "optimizer__warmup_updates": 5}
    prove("sft", lambda run: sft_command(data, run, **settings), folder, luck, ["checkpoint", "any"])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--seed", type=int, default=1, help="of the moments")
    options = arguments.parse_args()
    luck = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="tritonsmith-resume-") as name:
        folder = pathlib.Path(name)
        prove_sft(folder, luck)


main()
