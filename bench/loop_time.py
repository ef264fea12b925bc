#!/usr/bin/env python3
"""Where a step of reinforcement learning spends its time, and how well its stages overlap.

    bench/loop_time.py --model runs/miniature/sft/checkpoints/step-1200 --out runs/loop-time

Runs a few steps of 64 prompts x 8 samples with rollout.staleness 0 and 1, and prints the median of each stage and of
step / longest stage (the aim is at most 1.25). Leaves a time line of the last step but one (OUT/*/trace.json).
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
STAGES = ["generate", "judge", "generate_and_judge", "await_rollout", "train", "longest_stage", "step"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="one that writes kernels: else there is nothing to judge")
    parser.add_argument("--out", required=True)
    parser.add_argument("--binary", default=ROOT / "build" / "tritonsmith")
    parser.add_argument("--tasks", default="quickstart:seed=1,train=2000,heldout=0")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--prompts", type=int, default=64)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--set", action="append", default=[], help="further settings of rl")
    return parser.parse_args()


def run(options, staleness):
    out = pathlib.Path(options.out) / f"staleness-{staleness}"
    out.parent.mkdir(parents=True, exist_ok=True)
    config = out.parent / f"staleness-{staleness}.toml"
    settings = {
        "run.dir": str(out), "run.steps": options.steps, "model.path": options.model, "tasks.path": options.tasks,
        "prompt.style": "compact", "rollout.prompts": options.prompts, "rollout.samples": options.samples,
        "rollout.max_new_tokens": options.tokens, "rollout.staleness": staleness, "engine.slots": 256,
        "optimizer.learning_rate": 1e-5, "judge.policy": "open", "checkpoint.every": 0,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    config.write_text("\n".join([*lines, f"trace.steps = [{options.steps - 1}]"]) + "\n")
    more = [part for each in options.set for part in ("--set", each)]
    subprocess.run([str(options.binary), "rl", str(config), *more], check=True, stdout=subprocess.DEVNULL)
    return [json.loads(line) for line in (out / "steps.jsonl").read_text().splitlines()]


def main():
    options = arguments()
    if options.steps < 4:
        sys.exit("--steps: at least 4, the first and the last step are left out")
    print("| staleness | " + " | ".join(STAGES) + " | step / longest |")
    print("|" + "---|" * (len(STAGES) + 2))
    for staleness in (0, 1):
        # The first step warms everything up, and nothing is gathered ahead in the last.
        steps = run(options, staleness)[1:-1]
        medians = [statistics.median(step[f"seconds/{stage}"] for step in steps) for stage in STAGES]
        ratio = statistics.median(step["seconds/step"] / step["seconds/longest_stage"] for step in steps)
        print(f"| {staleness} | " + " | ".join(f"{value:.2f} s" for value in medians) + f" | {ratio:.2f} |", flush=True)


main()
