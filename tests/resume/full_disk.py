#!/usr/bin/env python3
"""Fills the disk under a run. The run must end with one clear line, and everything written before must be whole.

The disk is a small tmpfs. Mounting it needs root or a user namespace. Without both, this test skips.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from runs import PROBE, assert_same_run, call, last_checkpoint, make_data, sft_command

SKIP = 77
DEADLINE_S = 120


def mount_small_disk(folder):
    """Mounts a tmpfs and returns whether that worked. Without root it tries again in a new user namespace."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", folder], capture_output=True).returncode == 0:
        return True
    if os.environ.get("TRITONSMITH_IN_NAMESPACE") is None:
        os.environ["TRITONSMITH_IN_NAMESPACE"] = "1"
        inside = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, *sys.argv]
        if subprocess.run([*inside[:4], "true"], capture_output=True).returncode == 0:
            os.execvp(inside[0], inside)
    return False


def steps_of(run):
    file = run / "steps.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def fill(disk):
    """Fills every free byte of the disk."""
    with open(disk / "filler", "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(1 << 16))
        except OSError:
            pass
        try:
            while True:
                filler.write(bytes(1 << 10))
        except OSError:
            pass


def starve(command, disk, run):
    """Runs until some steps are recorded, fills the disk, and returns the program's last message."""
    process = subprocess.Popen([str(each) for each in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True)
    give_up = time.monotonic() + DEADLINE_S
    while steps_of(run) < 5:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < give_up, "no steps"
        time.sleep(0.001)
    fill(disk)
    _, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == (1 if command[0] == PROBE else 3), (process.returncode, errors)
    return [line for line in errors.splitlines() if "No space left" in line]


def prove(name, command_for, folder, disk):
    straight, run = folder / name, disk / name
    call(*command_for(straight))
    said = starve(command_for(run), disk, run)
    assert len(said) == 1 and str(run) in said[0] and "make room" in said[0], said
    kept = last_checkpoint(run)
    assert not list((run / "checkpoints").glob(".writing*")), "the half checkpoint still takes room"
    for file in ("steps.jsonl", "samples.jsonl"):
        for line in (run / file).read_text().splitlines():
            json.loads(line)  # fails if the line is cut off
    assert steps_of(run) >= 5
    (disk / "filler").unlink()
    call(*command_for(run))
    assert_same_run(straight, run)
    shutil.rmtree(run)
    print(f"{name}: '{said[0]}'; went on from {kept.name} to the same weights", flush=True)


def main():
    with tempfile.TemporaryDirectory(prefix="tritonsmith-full-disk-") as name:
        folder, disk = pathlib.Path(name), pathlib.Path(name) / "disk"
        disk.mkdir()
        if not mount_small_disk(disk):
            print("SKIPPED: no small disk can be mounted here (neither root nor user namespaces)")
            sys.exit(SKIP)
        try:
            make_data(folder, tasks=20, hidden_size=32, intermediate_size=64, num_hidden_layers=1, head_dim=8,
                      vocabulary=400)
            call(PROBE, "model", folder / "probe-model")
            common = {"run__steps": 40, "data__step_tokens": 256}
            prove("records", lambda run: sft_command(folder, run, checkpoint__every=1000, **common), folder, disk)
            prove("checkpoint", lambda run: sft_command(folder, run, checkpoint__every=2, **common), folder, disk)
            prove("samples", lambda run: [PROBE, "run", run, folder / "probe-model", 30], folder, disk)
        finally:
            subprocess.run(["umount", "--lazy", disk], check=False)


main()
