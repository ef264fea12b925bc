#!/usr/bin/env python3
"""Every config in configs/ is whole: `--dry-run` resolves and checks it once it is pointed at a model and data."""
import json
import os
import pathlib
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
# What a config must resolve to: the constants that make the system what it is.
EXPECTED = {
    "kernel-coder": ["similarity = 1.0", 'deviation = "population"', "kl_beta = 0.001"],
    "kerneltune": ["compiled = 0.3", "speed = 0.5", "saturation_begin = 0.85"],
    "dr-kernel": ['advantage = "trloo"', "limit = 3", "mrs_high = 1.001", "prs = true", "coverage = 0.5"],
    "tritonrl": ['credit = "hierarchical"', "plan_alpha = 0.1", "speed_cap = 2.0", 'advantage = "mean_only"'],
}
# The stages before them.
SUPERVISED = {
    "kerneltune-sft": ["max_tokens = 4096"],
    "dr-kernel-sft": ["learning_rate = 2e-05", "steps = 558"],
    "tritonrl-sft": ["learning_rate = 1e-05", "steps = 7250"],
}
# Combinations that make no sense, and a word of the reason.
SENSELESS = {
    "algorithm.dual_clip=1.1": "clip_high",
    "judge.backend=evaluate": "measures",
    "algorithm.kl_place=loss algorithm.kl_beta=0.1 algorithm.kl_estimator=k1": "mean gradient of 0",
    "algorithm.advantage=grpo": "scale",
    "rollout.learn_early=true": "lots",
}


def run(*arguments):
    """As on a machine without a GPU."""
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})


def main():
    with tempfile.TemporaryDirectory(prefix="tritonsmith-configs-") as name:
        folder = pathlib.Path(name)
        tasks, examples = folder / "tasks.jsonl", folder / "examples.jsonl"
        references = folder / "references.jsonl"
        tasks.write_text(json.dumps({"id": "relu", "suite": "own", "source": TASK}) + "\n")
        examples.write_text(json.dumps({"task": "relu", "prompt": "relu", "completion": "x"}) + "\n")
        references.write_text(json.dumps({"task": "relu", "kernel": "x = 1\n"}) + "\n")
        made = run("model", "make", "--examples", examples, "--out", folder / "model", "--set", "vocabulary=300",
                   "--set", "hidden_size=16", "--set", "intermediate_size=16",
                   "--set", "num_attention_heads=2", "--set", "num_key_value_heads=1", "--set", "head_dim=8",
                   "--set", "num_hidden_layers=1", "--set", "max_position_embeddings=40960")
        if made.returncode != 0:
            sys.exit(f"FAILED model make: {made.stderr}")

        def dry_run(config, *settings):
            arguments = ["rl", CONFIGS / f"{config}.toml", "--dry-run"]
            for setting in (f"model.path={folder / 'model'}", f"tasks.path={tasks}", f"run.dir={folder / 'run'}",
                            *settings):
                arguments += ["--set", setting]
            return run(*arguments)

        failures = []
        for config, expected in EXPECTED.items():
            settings = [f"tasks.references={references}"] if config == "kernel-coder" else []
            result = dry_run(config, *settings)
            missing = [line for line in expected if line not in result.stdout]
            if result.returncode != 0 or missing:
                failures.append(f"{config}: exit {result.returncode}, missing {missing}\n{result.stderr}{result.stdout}")
        for gym, is_told in (("", True), ("http://127.0.0.1:1", False)):
            if ("need a GPU that judges" in dry_run("dr-kernel", f"judge.url={gym}").stderr) != is_told:
                failures.append(f"judge.url = '{gym}': told that nothing here measures speed: {not is_told}")
        for config, expected in SUPERVISED.items():
            result = run("sft", CONFIGS / f"{config}.toml", "--dry-run", "--set", f"model.path={folder / 'model'}",
                         "--set", f"data.examples={examples}", "--set", f"run.dir={folder / 'run'}")
            missing = [line for line in expected if line not in result.stdout]
            if result.returncode != 0 or missing:
                failures.append(f"{config}: exit {result.returncode}, missing {missing}\n{result.stderr}{result.stdout}")
        for settings, reason in SENSELESS.items():
            result = dry_run("dr-kernel", *settings.split())
            if result.returncode == 0 or reason not in result.stderr:
                failures.append(f"dr-kernel with {settings} was not refused for '{reason}': {result.stderr}")
        if (folder / "run").exists():
            failures.append("a dry run wrote its run directory")
        away = run("rl", CONFIGS / "rl-small.toml", "--set", f"model.path={folder / 'model'}", "--set",
                   f"tasks.path={tasks}", "--set", f"run.dir={folder / 'away'}", "--set", "judge.url=http://127.0.0.1:1")
        if away.returncode == 0 or "http://127.0.0.1:1" not in away.stderr:
            failures.append(f"judge.url was not asked: {away.stderr}")
        print("\n".join(failures) or f"{len(EXPECTED) + len(SUPERVISED)} configs are whole")
        return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
