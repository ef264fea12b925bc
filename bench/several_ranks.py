#!/usr/bin/env python3
"""Runs sft and rl with one rank and with several on the same work, and compares their speed and what they learn.

  bench/several_ranks.py                        two GPUs, a model of Qwen2.5-Coder-1.5B's shape
  bench/several_ranks.py --ranks 4 --shape 3b
  bench/several_ranks.py --device cpu --shape tiny --steps 4      any machine; proves the script, measures nothing
  bench/several_ranks.py --folder DIR           keeps data and runs there; a call that was cut off resumes with the first
                                                unfinished run

At the end it prints, for each loop and number of ranks, the medians of trained and generated tokens per second and of
seconds per step, without the first two steps. It also prints the largest relative difference of a step's loss from the run
with one rank (for rl, of the first step's entropy).

Both loops start from random weights. With --trained, rl starts from sft's last weights, so sft must write checkpoints (36 GB
for 1.5b, which on a slow disk takes longer than all else). NVLink's multicast is off (NCCL_NVLS_ENABLE=0) unless the
environment sets this variable.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(__file__).resolve().parents[1] / "build"
TRITONSMITH = os.environ.get("TRITONSMITH_BINARY", str(BUILD / "tritonsmith"))
SHAPES = {
    "tiny": {"vocabulary": 600, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "head_dim": 16},
    "1.5b": {"vocabulary": 4096, "hidden_size": 1536, "intermediate_size": 8960, "num_hidden_layers": 28,
             "num_attention_heads": 12, "num_key_value_heads": 2, "head_dim": 128},
    "3b": {"vocabulary": 4096, "hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36,
           "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 128},
}
WARM_UP = 2


def call(*command):
    result = subprocess.run([str(each) for each in command], capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{result.stderr}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_ranks(size, *command):
    shared = {"NCCL_NVLS_ENABLE": "0", **os.environ, "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1",
              "MASTER_PORT": str(free_port())}
    return [subprocess.Popen([str(each) for each in command], env={**shared, "RANK": str(rank)}, text=True,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for rank in range(size)]


def call_ranks(size, *command):
    if size == 1:
        return call(*command)
    ranks = start_ranks(size, *command)
    said = [rank.communicate()[1] for rank in ranks]
    if any(rank.returncode != 0 for rank in ranks):
        raise SystemExit("\n".join(f"rank {rank}: {text}" for rank, text in enumerate(said)))


def steps_of(run):
    return [json.loads(line) for line in (run / "steps.jsonl").read_text().splitlines()]


@contextlib.contextmanager
def folder_of(kept, prefix):
    """Gives the folder to keep, or a temporary one."""
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
    else:
        with tempfile.TemporaryDirectory(prefix=prefix) as name:
            yield pathlib.Path(name)


def is_made(folder):
    return (folder / "made").exists()


def begin_run(run, steps):
    """Whether the run is still needed. It is not if it is complete already. An incomplete run is removed."""
    if (run / "steps.jsonl").exists() and len(steps_of(run)) == steps:
        return False
    shutil.rmtree(run, ignore_errors=True)
    return True


def write_config(run, options, settings):
    """Writes the settings of a run to a file beside its folder. Returns the file."""
    settings = {"run.dir": run, "run.steps": options.steps, "model.device": options.device, **settings}
    lines = [f"{key} = {value}" if isinstance(value, (int, float)) else f'{key} = "{value}"' for key, value in settings.items()]
    config = run.parent / f"{run.name}.toml"
    config.write_text("\n".join(lines) + "\n")
    return config


def say(what, began):
    print(f"{what}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def make_model(folder, shape):
    settings = [each for key, value in shape.items() for each in ("--set", f"{key}={value}")]
    call(TRITONSMITH, "model", "make", "--examples", folder / "examples.jsonl", "--out", folder / "start", "--set", "type=bfloat16",
         *settings)


def median_of(steps, name):
    values = [step[name] for step in steps[WARM_UP:] or steps if step.get(name) is not None]
    return statistics.median(values) if values else None


def written(value, form):
    return "-" if value is None else format(value, form)


def difference(first, other, name):
    return max(abs(a[name] - b[name]) / max(abs(a[name]), 1e-9) for a, b in zip(first, other))


def make_data(folder, options):
    call(TRITONSMITH, "tasks", "make", "--quickstart", "--train", 60, "--heldout", 0, "--out", folder / "tasks.jsonl")
    call(TRITONSMITH, "tasks", "teach", "--quickstart", "--set", "curriculum.train=60", "--out", folder / "examples.jsonl")
    make_model(folder, SHAPES[options.shape])
    (folder / "made").touch()


def sft(folder, size, options):
    run, began = folder / f"sft-{size}", time.monotonic()
    if not begin_run(run, options.steps):
        return run
    keeps = options.trained and size == 1
    config = write_config(run, options, {
        "model.path": folder / "start", "data.examples": folder / "examples.jsonl", "data.step_tokens": options.step_tokens,
        "optimizer.learning_rate": 3e-4, "optimizer.warmup_updates": 2, "checkpoint.every": 1000 if keeps else 0,
        "checkpoint.keep_last": 1})
    call_ranks(size, TRITONSMITH, "sft", config)
    if keeps:
        keep_last_weights(run)
    say(f"sft, {size} ranks", began)
    return run


def rl(folder, size, options, model):
    run, began = folder / f"rl-{size}", time.monotonic()
    if not begin_run(run, options.steps):
        return run
    config = write_config(run, options, {
        "model.path": model, "tasks.path": folder / "tasks.jsonl", "prompt.style": "compact", "rollout.prompts": options.prompts,
        "rollout.samples": 8, "rollout.max_new_tokens": 256, "engine.slots": 8 * options.prompts, "optimizer.learning_rate": 1e-6,
        "algorithm.entropy_beta": 1e-4, "checkpoint.every": 0})
    call_ranks(size, TRITONSMITH, "rl", config)
    say(f"rl, {size} ranks", began)
    return run


def keep_last_weights(run):
    """Removes everything but the weights that rl begins with, because checkpoints of large models fill a disk."""
    last = last_checkpoint(run)
    for checkpoint in (run / "checkpoints").glob("step-*"):
        if checkpoint != last:
            shutil.rmtree(checkpoint)
    for file in last.glob("optimizer*.safetensors"):
        file.unlink()


def last_checkpoint(run):
    return run / "checkpoints" / (run / "checkpoints/latest").read_text().strip()


def report(loop, loss, runs, compared=None):
    first = steps_of(runs[1])[:compared]
    for size, run in runs.items():
        steps = steps_of(run)
        print("\t".join([loop, str(size), written(median_of(steps, "tokens_per_second"), ",.0f"),
                         written(median_of(steps, "generated_tokens_per_second"), ",.0f"),
                         written(median_of(steps, "seconds/step"), ".3f"), f"{difference(first, steps, loss):.1e}"]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--shape", choices=SHAPES, default="1.5b")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--step-tokens", type=int, default=65536)
    parser.add_argument("--prompts", type=int, default=16)
    parser.add_argument("--without-rl", action="store_true")
    parser.add_argument("--trained", action="store_true")
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    if options.shape == "tiny":
        options.step_tokens, options.prompts = 2048, 2
    with folder_of(options.folder, "tritonsmith-several-") as folder:
        began = time.monotonic()
        if not is_made(folder):
            make_data(folder, options)
            say("model and data", began)
        taught = {size: sft(folder, size, options) for size in (1, options.ranks)}
        rewarded = {}
        if not options.without_rl:
            model = last_checkpoint(taught[1]) if options.trained else folder / "start"
            rewarded = {size: rl(folder, size, options, model) for size in (1, options.ranks)}
        print("loop\tranks\ttrained/s\tgenerated/s\ts/step\tloss differs by")
        report("sft", "loss", taught)
        if rewarded:
            # Only the first step is compared. Later samples come from weights that differ by rounding.
            report("rl", "entropy", rewarded, compared=1)


if __name__ == "__main__":
    main()
