#!/usr/bin/env python3
"""Compares two ranks with whole float32 weights and two ranks that shard them (model.masters): losses, speed, GPU memory.

  bench/sharded_weights.py                      two GPUs, shapes of Qwen2.5-Coder-1.5B and Qwen3-8B, about two minutes
  bench/sharded_weights.py --shapes 1.5b
  bench/sharded_weights.py --device cpu --shapes tiny      any machine; proves the script; on a CPU sharding saves nothing
  bench/sharded_weights.py --ranks 8 --shapes 14b --masters sharded     Qwen3-14B's shape; whole weights do not fit
  bench/sharded_weights.py --out DIR            writes each run's steps there, and the table
  bench/sharded_weights.py --folder DIR         keeps models and runs there; a call that was cut off resumes with the first
                                                unfinished run

The models have random weights. A third run of the first shape has two ranks with sharded weights. SIGTERM stops it half
way, and one rank resumes from the two ranks' shards. The difference of a loss is relative to the same step with whole
weights. 8b writes 16 GB, and 1.5b writes 21 GB twice. TMPDIR=/dev/shm avoids a slow disk.
"""
import argparse
import pathlib
import shutil
import signal
import time

from eight_billion import SHAPES as LARGE_SHAPES
from eight_billion import PeakMemory
from several_ranks import (SHAPES, TRITONSMITH, begin_run, call, call_ranks, difference, folder_of, is_made, make_model, median_of, say,
                           start_ranks, steps_of, write_config, written)

SHAPES = {**SHAPES, "8b": LARGE_SHAPES["8b"],
          "14b": {**LARGE_SHAPES["8b"], "hidden_size": 5120, "intermediate_size": 17408, "num_hidden_layers": 40, "num_attention_heads": 40}}


def command_of(folder, name, masters, options, checkpoints):
    run = folder / name
    config = write_config(run, options, {
        "model.path": folder / "start", "model.masters": masters, "model.recompute": "layers",
        "data.examples": folder / "examples.jsonl", "data.step_tokens": options.step_tokens, "data.max_tokens": 1024,
        "optimizer.learning_rate": 1e-4, "optimizer.warmup_updates": 2, "optimizer.micro_batch_tokens": 4096,
        "checkpoint.every": 1000 if checkpoints else 0, "checkpoint.keep_last": 1})
    return run, [TRITONSMITH, "sft", config]


def row_of(shape, what, run, whole, gigabytes):
    steps = steps_of(run)
    return "\t".join([shape, what, f"{steps[-1]['loss']:.4f}", f"{difference(steps_of(whole), steps, 'loss'):.1e}",
                      written(median_of(steps, "tokens_per_second"), ",.0f"), gigabytes])


def train(folder, masters, options):
    """Trains. Returns the run, and the largest memory in use on a GPU meanwhile, in GB."""
    run, command = command_of(folder, masters, masters, options, checkpoints=False)
    peak = folder / f"{masters}.gb"
    if begin_run(run, options.steps):
        began = time.monotonic()
        with PeakMemory() as memory:
            call_ranks(options.ranks, *command)
        peak.write_text(f"{memory.gigabytes:.1f}")
        say(f"{options.ranks} ranks, {masters} weights", began)
    return run, peak.read_text()


def stop_and_go_on_alone(folder, options):
    """Trains with two ranks until one is told to stop. Then one rank resumes from the shards of both."""
    run, command = command_of(folder, "resumed", "sharded", options, checkpoints=True)
    if not begin_run(run, options.steps):
        return run
    began = time.monotonic()
    ranks = start_ranks(2, *command)
    while not (run / "steps.jsonl").exists() or len(steps_of_part(run)) < options.steps // 2:
        if any(rank.poll() for rank in ranks):
            break
        time.sleep(0.01)
    ranks[1].send_signal(signal.SIGTERM)
    said = [rank.communicate()[1] for rank in ranks]
    if not all("stopped after step" in each for each in said):
        raise SystemExit("\n".join(said))
    taken = len(steps_of(run))
    say(f"two ranks, stopped after step {taken} of {options.steps}", began)
    began = time.monotonic()
    call(*command)
    say("one rank, the rest", began)
    return run


def steps_of_part(run):
    """Returns the lines that are complete."""
    return (run / "steps.jsonl").read_text().split("\n")[:-1]


def compare(folder, shape, options):
    began = time.monotonic()
    if not is_made(folder):
        folder.mkdir(parents=True, exist_ok=True)
        call(TRITONSMITH, "tasks", "teach", "--quickstart", "--set", "curriculum.train=60", "--out", folder / "examples.jsonl")
        make_model(folder, SHAPES[shape])
        (folder / "made").touch()
        say(f"{shape}: model and data", began)
    runs, rows = {}, []
    for masters in options.masters:
        runs[masters], gigabytes = train(folder, masters, options)
        rows.append(row_of(shape, masters, runs[masters], runs[options.masters[0]], gigabytes))
    if shape == options.shapes[0] and options.ranks == 2 and "sharded" in options.masters:
        runs["resumed"] = stop_and_go_on_alone(folder, options)
        rows.append(row_of(shape, "sharded, then one rank", runs["resumed"], runs[options.masters[0]], "-"))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        for name, run in runs.items():
            shutil.copy(run / "steps.jsonl", options.out / f"{shape}-{name}.jsonl")
        with open(options.out / "table.tsv", "a") as table:
            table.writelines(row + "\n" for row in rows)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=["1.5b", "8b"])
    parser.add_argument("--masters", nargs="+", choices=["whole", "sharded"], default=["whole", "sharded"])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--step-tokens", type=int, default=16384)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    if "tiny" in options.shapes:
        options.step_tokens = 2048
    with folder_of(options.folder, "tritonsmith-sharded-") as folder:
        for shape in options.shapes:
            for row in compare(folder / shape, shape, options):
                print(row, flush=True)
            if not options.folder:
                shutil.rmtree(folder / shape)


if __name__ == "__main__":
    main()
