#!/usr/bin/env python3
"""Checks that every config in configs/ works: with a tiny model and little data, it takes a real step of few tokens."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BINARY = os.environ["TRITONSMITH_BINARY"]
CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"
TASK = """import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.randn(4, 64)]
def get_init_inputs():
    return []
"""
MODEL = ["vocabulary=300", "hidden_size=32", "intermediate_size=32", "num_attention_heads=2", "num_key_value_heads=1",
         "head_dim=16", "num_hidden_layers=1", "max_position_embeddings=40960"]
# The model learns both by heart, so that the rewards of a group differ and there is something to learn.
COMPLETIONS = ["<thinking>a</thinking>\n<answer>\n```python\nx = 1\n```\n</answer>", "no"]
WARM_UP = ["run.steps=150", "data.step_tokens=256", "optimizer.learning_rate=0.02", "optimizer.warmup_updates=5",
           "checkpoint.every=1000"]
# The values to which a config must resolve. They are the constants that define the recipe.
RL = {
    "kernel-coder": ["similarity = 1.0", 'deviation = "population"', "kl_beta = 0.001"],
    "kerneltune": ["compiled = 0.3", "speed = 0.5", "saturation_begin = 0.85"],
    "dr-kernel": ['advantage = "trloo"', "limit = 3", "mrs_high = 1.001", "prs = true", "coverage = 0.5"],
    "tritonrl": ['credit = "hierarchical"', "thinking_alpha = 0.1", "speed_cap = 2.0", 'advantage = "mean_only"'],
    "distil-on-policy": ["weight = 1.0", "steps = 100"],
    "rl-small": ['style = "compact"', "learning_rate = 0.0002"],
}
SFT = {
    "kerneltune-sft": ["max_tokens = 4096"],
    "dr-kernel-sft": ["learning_rate = 2e-05", "max_tokens = 18432"],
    "tritonrl-sft": ["learning_rate = 1e-05", "max_tokens = 12288"],
    "sft-small": ["max_tokens = 512"],
}
# These settings make a step smaller and pay for something that this model can earn. All else is as the config says.
SMALL_RL = ["run.steps=1", "rollout.prompts=1", "rollout.samples=8", "rollout.max_new_tokens=48", "engine.slots=8",
            "reward.format=1"]
SMALL_SFT = ["run.steps=1", "data.step_tokens=256"]
# Combinations of settings that make no sense, each with a part of the error message.
SENSELESS = {
    "algorithm.dual_clip=1.1": "clip_high",
    "judge.backend=evaluate": "measures",
    "algorithm.kl_term=loss algorithm.kl_beta=0.1 algorithm.kl_estimator=k1": "mean gradient of 0",
    "algorithm.advantage=grpo": "scale",
    "rollout.learn_early=true algorithm.epochs=2": "before the last verdict",
}


def run(*arguments):
    """Runs the program as on a machine without a GPU."""
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})


def train(kind, config, settings, *more):
    return run(kind, CONFIGS / f"{config}.toml", *(part for each in settings for part in ("--set", each)), *more)


@contextlib.contextmanager
def a_gym(folder):
    """Starts one judge for all configs, because its start takes most of the time of a short run."""
    service = subprocess.Popen([BINARY, "gym", "serve", "--listen", "127.0.0.1:0", "--dir", folder / "gym"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        serving = next(filter(None, (re.search(r"serving on (\S+:\d+)", line) for line in service.stderr)), None)
        if not serving:
            sys.exit("FAILED gym serve")
        yield f"http://{serving.group(1)}"
    finally:
        service.terminate()
        service.wait()


class Data:
    """The model and the data that a config's user brings."""

    def __init__(self, folder):
        self.folder, self.tasks, self.examples = folder, folder / "tasks.jsonl", folder / "examples.jsonl"
        self.references, self.model = folder / "references.jsonl", folder / "warm" / "checkpoints" / "step-150"
        self.tasks.write_text(json.dumps({"id": "relu", "suite": "own", "source": TASK}) + "\n")
        self.examples.write_text("".join(json.dumps({"task": "relu", "prompt": "relu", "completion": each}) + "\n"
                                         for each in COMPLETIONS))
        self.references.write_text(json.dumps({"task": "relu", "kernel": "x = 1\n"}) + "\n")

    def make_model(self):
        for made in (run("model", "make", "--examples", self.examples, "--out", self.folder / "start",
                         *(part for each in MODEL for part in ("--set", each))),
                     train("sft", "sft-small", [f"model.path={self.folder / 'start'}", f"data.examples={self.examples}",
                                                f"run.dir={self.folder / 'warm'}", *WARM_UP])):
            if made.returncode != 0:
                sys.exit(f"FAILED to make a model: {made.stderr}")

    def rl_settings(self, config, where):
        own = {"kernel-coder": [f"tasks.references={self.references}"],
               "distil-on-policy": [f"teacher.path={self.folder / 'start'}"]}  # of the same tokenizer
        return [f"model.path={self.model}", f"tasks.path={self.tasks}", f"run.dir={where}", *own.get(config, [])]

    def sft_settings(self, where):
        return [f"model.path={self.model}", f"data.examples={self.examples}", f"run.dir={where}"]


def step(data, config, gym):
    """Returns what is wrong with the config."""
    where = data.folder / config
    if config in SFT:
        result = train("sft", config, [*data.sft_settings(where), *SMALL_SFT])
    else:
        result = train("rl", config, [*data.rl_settings(config, where), f"judge.url={gym}", *SMALL_RL])
    if result.returncode != 0:
        return [f"{config}: exit {result.returncode}\n{result.stderr}"]
    resolved, steps = (where / "config.toml").read_text(), (where / "steps.jsonl").read_text().splitlines()
    failures = [f"{config}: resolves to no '{line}'" for line in {**RL, **SFT}[config] if line not in resolved]
    learnt = [json.loads(line).get("grad_norm", 0) for line in steps]
    if len(learnt) != 1 or not learnt[0] > 0:
        failures.append(f"{config}: steps with gradients of {learnt}\n{steps}")
    return failures


def checks(data):
    """Checks what --dry-run says of configs."""
    def dry_run(*settings):
        return train("rl", "dr-kernel", [*data.rl_settings("dr-kernel", data.folder / "dry"), *settings], "--dry-run")

    for gym, is_told in (("", True), ("http://127.0.0.1:1", False)):
        if ("need a GPU that judges" in dry_run(f"judge.url={gym}").stderr) != is_told:
            yield f"judge.url = '{gym}': told that nothing here measures speed: {not is_told}"
    for settings, reason in SENSELESS.items():
        result = dry_run(*settings.split())
        if result.returncode == 0 or reason not in result.stderr:
            yield f"dr-kernel with {settings} was not refused for '{reason}': {result.stderr}"
    if (data.folder / "dry").exists():
        yield "a dry run wrote its run directory"
    away = train("rl", "rl-small", [*data.rl_settings("rl-small", data.folder / "away"), "judge.url=http://127.0.0.1:1"])
    if away.returncode == 0 or "http://127.0.0.1:1" not in away.stderr:
        yield f"judge.url was not asked: {away.stderr}"


def main():
    configs = sorted(file.stem for file in CONFIGS.glob("*.toml"))
    failures = [] if configs == sorted([*RL, *SFT]) else [f"not all configs are tried: {configs}"]
    with tempfile.TemporaryDirectory(prefix="tritonsmith-configs-") as name:
        data = Data(pathlib.Path(name))
        data.make_model()
        with a_gym(data.folder) as gym, concurrent.futures.ThreadPoolExecutor(2) as pool:
            for found in pool.map(lambda config: step(data, config, gym), configs):
                failures += found
        failures += checks(data)
    print("\n".join(failures) or f"{len(configs)} configs took a step each")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
