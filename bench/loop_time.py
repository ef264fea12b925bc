#!/usr/bin/env python3
"""Measures where a step of reinforcement learning spends its time, and how well its stages overlap.

    bench/loop_time.py --model runs/miniature/sft/checkpoints/step-1200 --out runs/loop-time
    bench/loop_time.py --shape 1.5b --out runs/loop-time-1.5b --set model.recompute=layers

--shape first makes a model of that shape that writes kernels for the built-in curriculum. It starts from random weights
and takes --sft-steps steps of 16,384 tokens on the teacher's longer answers, with their plans. A later call finds the
model in --out.

Prompts and completions are as long as with a published model. The prompts are those of configs/ (the module's source and
the rules for the answer) after a worked example, as in KernelBench. A token is at most one word, so a kernel has as many
tokens as with Qwen's vocabulary (TOKENS below). At 1.5b the embedding has Qwen's 151,936 rows.

The model learns right and wrong answers to a few tasks by heart and is asked about the same tasks at temperature 0.6. So
some samples of a group are right and others are wrong, and there is something to judge and to learn. At temperature 1, a
model that was warmed up for minutes leaves its data about once in a hundred tokens, although it gives each token of the
data 99 %. For example, 9 % of the kernels of a small model with 0.013 nats per token compiled at temperature 1, and 89 % at
0.6. `different kernels` is their number as a share of the samples. A kernel is compiled once in a step, however often it is
sampled.

It runs a few steps of 64 prompts x 8 samples in each of --modes: on-policy, the same with learn_early, the next rollout
beside the update, and on-policy with each prompt computed for every sample. It prints the median of each stage and of
step / longest stage (the aim is at most 1.25). OUT/*/trace.json holds a time line of the last step but one.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

import several_ranks

ROOT = pathlib.Path(__file__).resolve().parents[1]
# These show whether there was something to judge and to learn, and how many tokens were computed or shared.
SHARES = ["completion/tokens", "stage/compiled", "stage/accepted", "groups/without_variance", "tokens", "shared_tokens"]
STAGES = ["generate", "judge", "generate_and_judge", "await_rollout", "train", "longest_stage", "step"]
MODES = {
    "on-policy": {"rollout.staleness": 0},
    "early": {"rollout.staleness": 0, "rollout.learn_early": True},
    "stale": {"rollout.staleness": 1},
    "unshared": {"rollout.staleness": 0, "optimizer.share_prompts": "off"},
}

SHAPES = {"tiny": several_ranks.SHAPES["tiny"], "small": {}, "1.5b": {**several_ranks.SHAPES["1.5b"], "vocab_size": 151936}}
LEARNING_RATES = {"tiny": 3e-3, "small": 3e-3, "1.5b": 2e-4}
# A token is at most one word, so the curriculum's answers have about as many tokens as with Qwen2.5's vocabulary.
TOKENS = {"pieces": "qwen2", "vocabulary": 960, "max_position_embeddings": 4096}
# Answers with two kernels, loops and helper functions, as a module of several operators needs them.
TEACHER = {"teacher.styles": ["two_kernels", "loop", "helpers"], "teacher.mistakes": 0.4}
LEARNT_TASKS = 64  # as many as the prompts of a step
TEACHERS = 4  # each writes its own answers, with other names, block sizes and mistakes
EXAMPLE = """You write Triton kernels for NVIDIA GPUs. You are given a PyTorch module and answer with a module that computes the same in
fewer passes over memory. A worked example: for

```python
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, a, b):
        return a + b


def get_inputs():
    # randomly generate input tensors based on the model architecture
    a = torch.randn(1, 128).cuda()
    b = torch.randn(1, 128).cuda()
    return [a, b]


def get_init_inputs():
    # randomly generate tensors required for initialization
    return []
```

a good answer is

```python
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_kernel(a_ptr, b_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    a = tl.load(a_ptr + offsets, mask=mask, other=0.0)
    b = tl.load(b_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, a + b, mask=mask)


class ModelNew(nn.Module):
    def forward(self, a, b):
        out = torch.empty_like(a)
        n_elements = out.numel()
        add_kernel[(triton.cdiv(n_elements, 256),)](a, b, out, n_elements, BLOCK_SIZE=256)
        return out
```

Mask what lies beyond the end, accumulate sums in float32, and leave no temporary in memory that can stay in registers."""


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
    parser.add_argument("--modes", nargs="+", choices=MODES, default=["on-policy", "early", "stale"])
    parser.add_argument("--steps", type=int, default=8, help="0: only make the model")
    parser.add_argument("--prompts", type=int, default=64)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--tokens", type=int, help="the longest completion (1,024 with --shape, else 256)")
    parser.add_argument("--set", action="append", default=[], help="further settings of rl")
    return parser.parse_args()


def call(options, *command):
    subprocess.run([str(options.binary), *map(str, command)], check=True, stdout=subprocess.DEVNULL)


PROMPT = {"prompt.kind": "conversion", "prompt.style": "full", "prompt.system": EXAMPLE}


def as_settings(settings):
    return [part for name, value in settings.items() for part in ("--set", f"{name}={json.dumps(value)}")]


def teach(options, examples):
    lines = ""
    for seed in range(TEACHERS):
        settings = {"curriculum.train": LEARNT_TASKS, "teacher.seed": seed + 1, **TEACHER, **PROMPT}
        call(options, "tasks", "teach", *as_settings(settings), "--out", examples)
        lines += examples.read_text()
    examples.write_text(lines)


def make_model(options):
    """Makes a model that writes kernels for the tasks of `rl`, with the lengths of a published model."""
    out = pathlib.Path(options.out)
    model = out / "sft" / "checkpoints" / f"step-{options.sft_steps}"
    examples, config = out / "examples.jsonl", out / "sft.toml"
    if model.exists():
        return model
    out.mkdir(parents=True, exist_ok=True)
    if not (out / "start").exists():
        teach(options, examples)
        call(options, "model", "make", "--examples", examples, "--out", out / "start",
             *as_settings({**SHAPES[options.shape], **TOKENS}))
    config.write_text("\n".join(f"{key} = {json.dumps(value)}" for key, value in {
        "run.dir": str(out / "sft"), "run.steps": options.sft_steps, "model.path": str(out / "start"),
        "data.examples": str(examples), "data.step_tokens": 16384, "data.max_tokens": 4096,
        "optimizer.learning_rate": LEARNING_RATES[options.shape], "optimizer.warmup_updates": 20,
        "checkpoint.every": 1000}.items()) + "\n")
    call(options, "sft", config)
    return model


def run(options, mode):
    out = pathlib.Path(options.out) / mode
    out.parent.mkdir(parents=True, exist_ok=True)
    config = out.parent / f"{mode}.toml"
    settings = {
        "run.dir": str(out), "run.steps": options.steps, "model.path": options.model, "tasks.path": options.tasks,
        **options.prompt, "rollout.prompts": options.prompts, "rollout.samples": options.samples,
        "rollout.max_new_tokens": options.tokens, "rollout.temperature": options.temperature, **MODES[mode],
        "engine.slots": 256,
        "optimizer.learning_rate": 1e-5, "optimizer.micro_batch_tokens": 16384, "judge.policy": "open",
        "checkpoint.every": 0, "trace.steps": [options.steps - 1],
    }
    config.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items()))
    call(options, "rl", config, *(part for each in options.set for part in ("--set", each)))
    return out


def measured(mode, out):
    # The first step warms up, and the last one gathers nothing ahead. Both are left out.
    steps = [json.loads(line) for line in (out / "steps.jsonl").read_text().splitlines()][1:-1]
    medians = [statistics.median(step[f"seconds/{stage}"] for step in steps) for stage in STAGES]
    ratio = statistics.median(step["seconds/step"] / step["seconds/longest_stage"] for step in steps)
    samples = [json.loads(line) for line in (out / "samples.jsonl").read_text().splitlines()]
    prompt = statistics.mean(len(sample["completion"]["prompt_tokens"]) for sample in samples)
    written = [sample["completion"] for sample in samples]
    different = len({(sample["step"], sample["task"], sample["kernel"]) for sample in samples}) / len(samples)
    characters = sum(len(each["text"]) for each in written) / sum(len(each["tokens"]) for each in written)
    return [mode, *(f"{value:.2f} s" for value in medians), f"{ratio:.2f}", f"{prompt:.0f}",
            *(f"{statistics.median(step[name] for step in steps):.3g}" for name in SHARES), f"{different:.0%}", f"{characters:.2f}"]


def main():
    options = arguments()
    if options.steps < 4 and not (options.shape and options.steps == 0):
        sys.exit("--steps: at least 4, the first and the last step are left out")
    options.tokens = options.tokens or (1024 if options.shape else 256)
    if options.shape:
        options.tasks = options.tasks or f"curriculum:seed=1,train={LEARNT_TASKS},heldout=0"
        options.temperature = 0.6
        options.prompt = {**PROMPT, **({"prompt.style": options.prompt_style} if options.prompt_style else {})}
        options.model = str(make_model(options))
        if options.steps == 0:
            return
    else:
        options.tasks = options.tasks or "quickstart:seed=1,train=2000,heldout=0"
        options.temperature = 1.0
        options.prompt = {"prompt.style": options.prompt_style or "compact"}
    head = ["mode", *STAGES, "step / longest", "prompt/tokens", *SHARES, "different kernels", "characters a token"]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|", flush=True)
    for mode in options.modes:
        print("| " + " | ".join(measured(mode, run(options, mode))) + " |", flush=True)


main()
