#!/usr/bin/env python3
"""Where a step of reinforcement learning spends its time, and how well its stages overlap.

    bench/loop_time.py --model runs/miniature/sft/checkpoints/step-1200 --out runs/loop-time
    bench/loop_time.py --shape 1.5b --out runs/loop-time-1.5b --set model.recompute=layers

--shape first makes a model of that shape that writes kernels of the built-in curriculum: from random weights, --sft-steps
steps of 16,384 tokens of the teacher's answers, plans and all; it is found again in --out.

Runs a few steps of 64 prompts x 8 samples with rollout.staleness 0 and 1, and prints the median of each stage and of
step / longest stage (the aim is at most 1.25). Leaves a time line of the last step but one (OUT/*/trace.json).
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

import several_ranks

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARES = ["completion/tokens", "stage/compiled", "stage/accepted"]  # whether there was something to judge
STAGES = ["generate", "judge", "generate_and_judge", "await_rollout", "train", "longest_stage", "step"]

SHAPES = {"tiny": several_ranks.SHAPES["tiny"], "small": {}, "1.5b": several_ranks.SHAPES["1.5b"]}
LEARNING_RATES = {"tiny": 3e-3, "small": 3e-3, "1.5b": 2e-4}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made = parser.add_mutually_exclusive_group(required=True)
    made.add_argument("--model", help="one that writes kernels: else there is nothing to judge")
    made.add_argument("--shape", choices=SHAPES, help="make one")
    parser.add_argument("--sft-steps", type=int, default=300)
    parser.add_argument("--out", required=True)
    parser.add_argument("--binary", default=ROOT / "build" / "tritonsmith")
    parser.add_argument("--tasks", help="default: training tasks like those that the model learnt")
    parser.add_argument("--prompt-style", choices=["compact", "full"], help="likewise")
    parser.add_argument("--steps", type=int, default=8, help="0: only make the model")
    parser.add_argument("--prompts", type=int, default=64)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--set", action="append", default=[], help="further settings of rl")
    return parser.parse_args()


def call(options, *command):
    subprocess.run([str(options.binary), *map(str, command)], check=True, stdout=subprocess.DEVNULL)


def make_model(options):
    """The whole curriculum, full prompts: answers of a few hundred tokens."""
    out = pathlib.Path(options.out)
    model = out / "sft" / "checkpoints" / f"step-{options.sft_steps}"
    examples, config = out / "examples.jsonl", out / "sft.toml"
    if model.exists():
        return model
    out.mkdir(parents=True, exist_ok=True)
    settings = [part for name, value in SHAPES[options.shape].items() for part in ("--set", f"{name}={value}")]
    if not (out / "start").exists():
        call(options, "tasks", "teach", "--set", "teacher.per_task=2", "--out", examples)
        call(options, "model", "make", "--examples", examples, "--out", out / "start", *settings)
    config.write_text("\n".join(f"{key} = {json.dumps(value)}" for key, value in {
        "run.dir": str(out / "sft"), "run.steps": options.sft_steps, "model.path": str(out / "start"),
        "data.examples": str(examples), "data.step_tokens": 16384, "data.max_tokens": 2048,
        "optimizer.learning_rate": LEARNING_RATES[options.shape], "optimizer.warmup_updates": 20,
        "checkpoint.every": 1000}.items()) + "\n")
    call(options, "sft", config)
    return model


def run(options, staleness):
    out = pathlib.Path(options.out) / f"staleness-{staleness}"
    out.parent.mkdir(parents=True, exist_ok=True)
    config = out.parent / f"staleness-{staleness}.toml"
    settings = {
        "run.dir": str(out), "run.steps": options.steps, "model.path": options.model, "tasks.path": options.tasks,
        "prompt.style": options.prompt_style, "rollout.prompts": options.prompts, "rollout.samples": options.samples,
        "rollout.max_new_tokens": options.tokens, "rollout.staleness": staleness, "engine.slots": 256,
        "optimizer.learning_rate": 1e-5, "judge.policy": "open", "checkpoint.every": 0,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    config.write_text("\n".join([*lines, f"trace.steps = [{options.steps - 1}]"]) + "\n")
    more = [part for each in options.set for part in ("--set", each)]
    call(options, "rl", config, *more)
    return [json.loads(line) for line in (out / "steps.jsonl").read_text().splitlines()]


def main():
    options = arguments()
    if options.steps < 4 and not (options.shape and options.steps == 0):
        sys.exit("--steps: at least 4, the first and the last step are left out")
    if options.shape:
        options.tasks = options.tasks or "curriculum:seed=1,train=2000,heldout=0"
        options.prompt_style, options.model = options.prompt_style or "full", str(make_model(options))
        if options.steps == 0:
            return
    else:
        options.tasks = options.tasks or "quickstart:seed=1,train=2000,heldout=0"
        options.prompt_style = options.prompt_style or "compact"
    print("| " + " | ".join(["staleness", *STAGES, "step / longest", *SHARES]) + " |")
    print("|" + "---|" * (len(STAGES) + len(SHARES) + 2))
    for staleness in (0, 1):
        # The first step warms everything up, and nothing is gathered ahead in the last.
        steps = run(options, staleness)[1:-1]
        medians = [statistics.median(step[f"seconds/{stage}"] for step in steps) for stage in STAGES]
        ratio = statistics.median(step["seconds/step"] / step["seconds/longest_stage"] for step in steps)
        cells = [str(staleness), *(f"{value:.2f} s" for value in medians), f"{ratio:.2f}",
                 *(f"{statistics.median(step[name] for step in steps):.3g}" for name in SHARES)]
        print("| " + " | ".join(cells) + " |", flush=True)


main()
