#!/usr/bin/env python3
"""Bad input gets one clear line that names the file and says what is wrong, and a non-zero exit."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BINARY = os.environ["TRITONSMITH_BINARY"]
GOOD_TASK = """import torch, torch.nn as nn
class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.randn(4, 64)]
def get_init_inputs():
    return []
"""


def run(*arguments):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def refused(what, result, *needles):
    """The program must say all needles in one line and exit with another code than 0."""
    lines = [line for line in result.stderr.splitlines() if line.startswith("tritonsmith: ")]
    fine = result.returncode not in (0, -6, -11) and len(lines) == 1 and all(n in lines[0] for n in needles)
    if not fine:
        print(f"FAILED {what}: exit {result.returncode}, stderr:\n{result.stderr}stdout:\n{result.stdout}")
    return fine


def main():
    with tempfile.TemporaryDirectory(prefix="tritonsmith-bad-input-") as name:
        folder = pathlib.Path(name)
        task, kernel = folder / "task.py", folder / "kernel.py"
        task.write_text(GOOD_TASK)
        kernel.write_text("import torch\n")
        taken = folder / "taken"
        taken.write_text("a file where a directory is wanted")
        damaged = folder / "damaged"
        damaged.mkdir()
        (damaged / "steps.jsonl").write_text('{"step": 1}\n{"step": \n{"step": 3}\n')
        model = folder / "model"
        model.mkdir()
        (model / "config.json").write_text("{")
        records = folder / "tasks.jsonl"
        records.write_text(json.dumps({"id": "a", "source": GOOD_TASK}) + '\n{"id": "b", "sour')
        suite = folder / "suite"
        suite.mkdir()
        (suite / "7_None.py").write_text("print('no module here')\n")
        out = folder / "out"

        checks = [
            refused("a task that is not there", run("judge", "--task", folder / "no.py", "--kernel", kernel), "no.py"),
            refused("a kernel that is not there", run("judge", "--task", task, "--kernel", folder / "no.py"), "no.py"),
            refused("a directory as task", run("judge", "--task", folder, "--kernel", kernel), "directory"),
            refused("no records", run("report", folder / "nothing"), "nothing"),
            refused("a damaged record", run("report", damaged), "steps.jsonl:2"),
            refused("a path that is taken", run("quickstart", "--out", taken), str(taken)),
            refused("an unknown setting", run("quickstart", "--out", out, "--set", "sft.run.step=3"),
                    "sft.run.step", "sft.run.steps"),
            refused("a setting out of range", run("quickstart", "--out", out, "--set", "samples=0"), "samples"),
            refused("a damaged model", run("eval", "--suite", task, "--model", model, "--out", out), "config.json"),
            refused("no model", run("write", task, "--model", folder / "none"), "none"),
            refused("a truncated task list", run("eval", "--suite", records, "--model", model, "--out", out),
                    "tasks.jsonl", "2"),
            refused("a file that is no task", run("eval", "--suite", suite, "--model", model, "--out", out),
                    "7_None.py"),
        ]
    print(f"{sum(checks)} of {len(checks)} kinds of bad input are refused in one clear line")
    sys.exit(0 if all(checks) else 1)


main()
