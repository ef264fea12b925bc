#!/usr/bin/env python3
"""Checks that several processes train as one does (docs/several-gpus.md), over Gloo on this machine's CPU.

Two ranks must take the same steps as one, with the same losses and, within rounding, the same weights. If a rank is killed,
the job must end and name it. The job must go on with another number of ranks.

This tests `tritonsmith sft` with whole weights, with sharded weights and with an adapter. Environment variables or torchrun
start the ranks. It also tests reinforcement learning, with a judge that needs no guests.
"""
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

from runs import PROBE, TRITONSMITH, call, last_checkpoint, make_data, sft_command

DEADLINE_S = 300
TOLERANCE = 1e-6


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_ranks(command, size, **more):
    """Starts one process per rank. The environment tells each its rank, as torchrun does."""
    shared = {**os.environ, "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()),
              "OMP_NUM_THREADS": "1", **more}
    return [subprocess.Popen([str(each) for each in command], env={**shared, "RANK": str(rank)}, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE) for rank in range(size)]


def finish(ranks):
    """Waits for all ranks and returns what each wrote to stderr."""
    said = []
    for rank in ranks:
        said.append(rank.communicate(timeout=DEADLINE_S)[1])
    return said


def call_ranks(command, size):
    ranks = start_ranks(command, size)
    said = finish(ranks)
    assert all(rank.returncode == 0 for rank in ranks), "\n".join(said)


def tensors(file):
    """Returns the fp32 tensors of a safetensors file, as lists of numbers by name."""
    data = file.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    found = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = (8 + length + each for each in entry["data_offsets"])
            found[name] = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return found


def largest_difference(one, other, name):
    first, second = tensors(last_checkpoint(one) / name), tensors(last_checkpoint(other) / name)
    assert first.keys() == second.keys(), f"{name}: {first.keys() ^ second.keys()}"
    return max(abs(a - b) for key in first for a, b in zip(first[key], second[key], strict=True))


def moments_of(run):
    """Joins the ranks' shards of the optimizer's state in the last checkpoint."""
    whole = {}
    files = sorted(last_checkpoint(run).glob("optimizer*.safetensors"))
    assert files, f"{run} has no optimizer's state"
    for file in files:
        for key, numbers in tensors(file).items():
            whole.setdefault(key, []).extend(numbers)
    return whole


def steps_of(run):
    return [json.loads(line) for line in (run / "steps.jsonl").read_text().splitlines()]


def assert_same_steps(one, other, names=("loss", "grad_norm", "entropy")):
    first, second = steps_of(one), steps_of(other)
    assert len(first) == len(second) > 0, f"{len(first)} and {len(second)} steps"
    for a, b in zip(first, second):
        for name in names:
            assert abs(a[name] - b[name]) <= TOLERANCE * max(1, abs(a[name])), \
                f"step {a['step']}: {name} is {a[name]} and {b[name]}"
        assert a["step"] == b["step"]
        # The number of shared tokens depends on which sequences are in one micro-batch.
        whole = [each["tokens"] + each["shared_tokens"] for each in (a, b)]
        assert whole[0] == whole[1], f"step {a['step']}: tokens"


def assert_same_learning(one, other, names=("loss", "grad_norm", "entropy")):
    assert_same_steps(one, other, names)
    difference = largest_difference(one, other, "model.safetensors")
    assert difference <= TOLERANCE, f"weights differ by {difference}"
    first, second = moments_of(one), moments_of(other)
    for shards in (first, second):
        shards.pop("master", None)  # sharded weights; model.safetensors was compared already
    assert first.keys() == second.keys(), f"moments: {first.keys() ^ second.keys()}"
    moments = max(abs(a - b) for key in first for a, b in zip(first[key], second[key], strict=True))
    assert moments <= TOLERANCE, f"moments differ by {moments}"
    return difference


def kill_one(command, victim, run, step):
    """Kills one of two ranks after `step` steps. The other must name it soon."""
    ranks = start_ranks(command, 2)
    give_up = time.monotonic() + DEADLINE_S
    while not (run / "steps.jsonl").exists() or (run / "steps.jsonl").read_bytes().count(b"\n") < step:
        assert all(rank.poll() is None for rank in ranks), finish(ranks)
        assert time.monotonic() < give_up, "the run takes no steps"
        time.sleep(0.005)
    ranks[victim].send_signal(signal.SIGKILL)
    killed_at = time.monotonic()
    said = finish(ranks)[1 - victim]
    seconds = time.monotonic() - killed_at
    assert ranks[1 - victim].returncode == (1 if command[0] == PROBE else 3), "the other rank went on"
    assert f"rank {victim} of 2 (on " in said and "is gone" in said, said
    assert seconds < 15, f"it took {seconds:.0f} s to notice"
    return seconds


def prove_sft(folder):
    data = folder / "sft"
    data.mkdir()
    make_data(data, tasks=12, hidden_size=32, intermediate_size=64, num_hidden_layers=1, head_dim=8, vocabulary=400)
    settings = {"run__steps": 8, "data__step_tokens": 900, "optimizer__warmup_updates": 2, "checkpoint__every": 3}
    command = lambda name, **more: sft_command(data, folder / name, **{**settings, **more})
    call(*command("one"))
    call_ranks(command("two"), 2)
    print(f"sft: two ranks as one, weights within {assert_same_learning(folder / 'one', folder / 'two'):.1e}", flush=True)
    call_ranks(command("three"), 3)
    assert_same_learning(folder / "one", folder / "three")

    call_ranks(command("sharded", model__masters="sharded"), 3)
    difference = assert_same_learning(folder / "one", folder / "sharded")
    assert "master" in moments_of(folder / "sharded"), "a checkpoint without the ranks' weights"
    print(f"sft: three ranks with sharded weights as one, weights within {difference:.1e}", flush=True)

    adapter = {"lora__rank": 4, "optimizer__learning_rate": 0.01}
    call(*command("adapter-one", **adapter))
    call_ranks(command("adapter-two", **adapter), 2)
    difference = assert_same_learning(folder / "adapter-one", folder / "adapter-two")
    print(f"sft of an adapter: two ranks as one, weights within {difference:.1e}", flush=True)

    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", 2, "--master-port", free_port(), "--no-python"]
    call(*launcher, *command("torchrun"))
    assert_same_learning(folder / "one", folder / "torchrun")
    print("sft: torchrun starts it", flush=True)

    for victim in (1, 0):
        killed = folder / f"killed-{victim}"
        more = {"run__steps": 400}
        seconds = kill_one(command(killed.name, **more), victim, killed, 5)
        print(f"sft: rank {victim} killed, named after {seconds:.1f} s", flush=True)
    resume(folder, command)


def resume(folder, command):
    """Stops runs half way and resumes them with more or with fewer ranks."""
    sharded = {"model__masters": "sharded"}
    for first, then, more in ((2, 1, {}), (1, 2, {}), (3, 2, {}), (2, 1, sharded), (1, 2, sharded), (2, 3, sharded)):
        run = folder / f"resumed-{first}-{then}{'-sharded' if more else ''}"
        ranks = start_ranks(command(run.name, **more), first)
        while not (run / "steps.jsonl").exists() or not (run / "steps.jsonl").stat().st_size:
            assert all(rank.poll() is None for rank in ranks), finish(ranks)
            time.sleep(0.002)
        ranks[-1].terminate()  # all ranks stop if one is asked to
        said = finish(ranks)
        taken = len(steps_of(run))
        if all(rank.returncode == 0 for rank in ranks):
            continue  # the run ended before the signal
        assert all("stopped after step" in each for each in said), said
        call_ranks(command(run.name, **more), then)
        difference = assert_same_learning(folder / "one", run)
        print(f"sft: {taken} of {len(steps_of(run))} steps with {first} ranks, the rest with {then}{', sharded' if more else ''}: "
              f"weights within {difference:.1e}", flush=True)


def prove_rl(folder):
    model = folder / "rl-model"
    call(PROBE, "model", model)
    command = lambda run, steps: [PROBE, "run", run, model, steps]
    for size in (1, 2, 3):
        call_ranks(command(folder / f"rl-{size}", 3), size)
    call_ranks([*command(folder / "rl-2, prompts shared", 3), 0, "share"], 2)
    assert all(each["shared_tokens"] > 0 for each in steps_of(folder / "rl-2, prompts shared"))
    for size in ("2", "3", "2, prompts shared"):
        one, other = folder / "rl-1", folder / f"rl-{size}"
        assert_same_steps(one, other, ("reward/mean", "policy_loss", "surrogate", "kl", "grad_norm", "entropy",
                                       "logprob_difference/max", "samples/trained"))
        difference = largest_difference(one, other, "model.safetensors")
        assert difference <= 10 * TOLERANCE, f"weights differ by {difference}"
        samples = [[json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()] for run in (one, other)]
        assert len(samples[0]) == len(samples[1]) > 0
        for a, b in zip(*samples):
            for key in ("step", "group", "member", "task", "kernel", "prompt"):
                assert a[key] == b[key], f"{key}: {a[key]} and {b[key]}"
            assert a["completion"]["tokens"] == b["completion"]["tokens"]
            assert abs(a["advantage"] - b["advantage"]) <= TOLERANCE
        print(f"rl: ranks ({size}) as one, same samples, weights within {difference:.1e}", flush=True)


def prove_gym_of_hosts(folder):
    """Tests ranks that believe to be on two hosts. They need one gym, and judge.url names it to each of them."""
    config = folder / "hosts.toml"
    nowhere = f"http://127.0.0.1:{free_port()}"
    for url, expected, code in (("", "share no gym of this machine", 2),
                                (nowhere, f"the gym at {nowhere} does not serve us", 3)):
        config.write_text(f'run.dir = "{folder / "hosts"}"\nmodel.path = "{folder / "sft" / "start"}"\n'
                          f'model.device = "cpu"\ntasks.path = "{folder / "sft" / "tasks.jsonl"}"\n'
                          f'prompt.style = "compact"\nrollout.max_new_tokens = 32\njudge.url = "{url}"\n')
        ranks = start_ranks([TRITONSMITH, "rl", config], 2, LOCAL_WORLD_SIZE="1", LOCAL_RANK="0")
        said = finish(ranks)
        assert all(rank.returncode == code for rank in ranks) and all(expected in each for each in said), said
    print("rl: ranks of several hosts use the gym of judge.url", flush=True)


def main():
    with tempfile.TemporaryDirectory(prefix="tritonsmith-ranks-") as name:
        folder = pathlib.Path(name)
        prove_sft(folder)
        prove_gym_of_hosts(folder)
        prove_rl(folder)


if __name__ == "__main__":
    main()
