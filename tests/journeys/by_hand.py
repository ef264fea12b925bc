#!/usr/bin/env python3
"""Runs "The same by hand" of docs/researcher.md on a small scale: each command in an empty directory, with the local judge.

A model of a few thousand parameters learns the teacher's solutions of a few tasks by heart. So the gym can judge what it
writes, and a step of reinforcement learning has something to reward.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BINARY = os.environ["TRITONSMITH_BINARY"]
CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"
SFT_STEPS, RL_STEPS = 160, 2
SHAPE = ["vocabulary=400", "hidden_size=64", "intermediate_size=128", "num_hidden_layers=1", "head_dim=16",
         "num_attention_heads=4", "num_key_value_heads=2"]
SFT = [f"run.steps={SFT_STEPS}", "data.step_tokens=512", "optimizer.learning_rate=0.01", "optimizer.warmup_updates=5",
       "checkpoint.every=1000"]
SFT_MODEL = f"runs/sft-small/checkpoints/step-{SFT_STEPS}"
RL = [f"run.steps={RL_STEPS}", f"model.path={SFT_MODEL}", "rollout.prompts=2", "rollout.samples=3", "rollout.temperature=0.5",
      "rollout.max_new_tokens=320"]


def settings(values):
    return [part for value in values for part in ("--set", value)]


def run(folder, *arguments):
    """Runs a command as on a machine without a GPU. The test stops at the first command that fails."""
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=folder,
                          env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    if done.returncode != 0:
        sys.exit(f"FAILED tritonsmith {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
    return done


def evaluate(folder, model, out, *more):
    run(folder, "eval", "--suite", "data/tasks.jsonl", "--model", model, "--out", out, "--samples", 1, "--limit", 3, *more)
    return json.loads((folder / out / "evaluation.json").read_text())


def number_after(word, text):
    return float(re.search(rf"{word} ([\d.]+)", text).group(1))


def prepare(folder):
    run(folder, "tasks", "make", "--quickstart", "--train", 5, "--heldout", 0, "--out", "data/tasks.jsonl")
    run(folder, "tasks", "teach", "--quickstart", "--out", "data/examples.jsonl",
        *settings(["curriculum.train=5", "teacher.mistakes=0"]))
    run(folder, "model", "make", "--examples", "data/examples.jsonl", "--out", "data/start", *settings(SHAPE))
    assert json.loads((folder / "data/start/prompt.json").read_text())["style"] == "compact"


def supervise(folder):
    """Trains on examples. Later commands ask the checkpoint in the examples' form, without any option."""
    trained = run(folder, "sft", CONFIGS / "sft-small.toml", *settings(SFT))
    assert json.loads((folder / SFT_MODEL / "prompt.json").read_text())["style"] == "compact"
    evaluation = evaluate(folder, SFT_MODEL, "runs/eval-sft")
    assert evaluation["sampled"]["accepted"] + evaluation["greedy"]["accepted"] > 0, evaluation
    again = run(folder, "sft", "runs/sft-small")
    assert number_after("loss", again.stdout) == number_after("loss", trained.stdout) > 0, (trained.stdout, again.stdout)


def reinforce(folder):
    """Trains in a directory in which the judge has started already. Then it calls the finished run again, and then
    with one more step."""
    trained = run(folder, "rl", CONFIGS / "rl-small.toml", *settings(RL))
    assert (folder / "runs/rl-small/kernels").is_dir(), "the judge keeps its cache there"
    assert number_after("accepted", trained.stdout) > 0, trained.stdout
    again = run(folder, "rl", CONFIGS / "rl-small.toml", *settings(RL))
    assert again.stdout == trained.stdout, (trained.stdout, again.stdout)
    more = run(folder, "rl", "runs/rl-small", "--set", f"run.steps={RL_STEPS + 1}")
    assert f"{RL_STEPS + 1} steps" in more.stdout and "it was" in more.stderr, (more.stdout, more.stderr)
    lines = (folder / "runs/rl-small/steps.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == list(range(1, RL_STEPS + 2)), lines


def ask_wrongly(folder):
    """Asks a model in another form than it was trained on. It answers nothing useful, and `eval` must say why."""
    told = run(folder, "eval", "--suite", "data/tasks.jsonl", "--model", "data/start", "--out", "runs/eval-start",
               "--samples", 0, "--limit", 2, "--max-tokens", 16)
    assert "none of 2 answers holds code" in told.stderr and "--prompt-style" in told.stderr, told.stderr


def main():
    with tempfile.TemporaryDirectory(prefix="tritonsmith-by-hand-") as name:
        folder = pathlib.Path(name)
        prepare(folder)
        ask_wrongly(folder)
        supervise(folder)
        reinforce(folder)
        evaluate(folder, f"runs/rl-small/checkpoints/step-{RL_STEPS + 1}", "runs/eval-rl")
        run(folder, "report", "runs/sft-small", "runs/rl-small", "runs/eval-rl", "--html", "report.html")
        page = (folder / "report.html").read_text()
        assert "<svg" in page and "eval-rl" in page
    print("the path by hand is complete")


main()
