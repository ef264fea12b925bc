#!/usr/bin/env python3
"""Imports all four levels of a checkout with KernelBench's layout. Small tasks are judged, and too large ones say so."""
import json
import os
import pathlib
import subprocess
import tempfile

BINARY = os.environ["TRITONSMITH_BINARY"]
HEAD = "import torch\nimport torch.nn as nn\n"
SOFTMAX = HEAD + """
class Model(nn.Module):
    \"\"\"Softmax over the features.\"\"\"
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=1)

batch_size = ROWS
dim = COLUMNS

def get_inputs():
    x = torch.rand(batch_size, dim)
    return [x]

def get_init_inputs():
    return []  # No special initialization inputs needed
"""
# In a checkout, tests and scripts lie beside the levels. They are not tasks.
FILES = {
    "scripts/generate_samples.py": "print('no task')\n",
    "KernelBench/level1/23_Softmax.py": SOFTMAX.replace("ROWS", "8").replace("COLUMNS", "200"),
    "KernelBench/level1/24_LargeSoftmax.py": SOFTMAX.replace("ROWS", "4096").replace("COLUMNS", "393216"),
    # Both tasks are too large for a judge on the CPU. The import still checks the first, but no machine has the memory
    # for the second.
    "KernelBench/level1/25_NothingInLarge.py": SOFTMAX.replace("torch.softmax(x, dim=1)", "torch.relu(x) - torch.relu(x)")
                                                      .replace("ROWS", "8192").replace("COLUMNS", "9216"),
    "KernelBench/level1/26_Boundless.py": SOFTMAX.replace("ROWS", "1048576").replace("COLUMNS", "1048576"),
    "KernelBench/level2/7_Linear_Scale_Sigmoid.py": HEAD + """
class Model(nn.Module):
    def __init__(self, in_features, out_features, scale):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.scale = scale

    def forward(self, x):
        return torch.sigmoid(self.linear(x) * self.scale)

def get_inputs():
    return [torch.rand(16, 32)]

def get_init_inputs():
    return [32, 16, 2.0]
""",
    "KernelBench/level3/1_TwoLayers.py": HEAD + """
class Model(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        layers = []
        for fan_in, fan_out in zip(sizes, sizes[1:]):
            layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
        self.network = nn.Sequential(*layers)

    def forward(self, x):
        return self.network(x)

def get_inputs():
    return [torch.rand(2, 64)]

def get_init_inputs():
    return [[64, 32, 16]]
""",
    "KernelBench/level4/2_LanguageModel.py": HEAD + """
from transformers import AutoConfig, AutoModelForCausalLM

model_name = "nobody/no-such-model"
config = AutoConfig.from_pretrained(model_name)

class Model(nn.Module):
    def __init__(self, model_name, config):
        super().__init__()
        self.model = AutoModelForCausalLM.from_pretrained(model_name, config=config)

    def forward(self, x):
        return self.model(x).logits

def get_inputs():
    return [torch.randint(0, config.vocab_size, (1, 32))]

def get_init_inputs():
    return [model_name, config]
""",
}
KERNEL_HEAD = HEAD + "import triton\nimport triton.language as tl\n"
SOFTMAX_KERNEL = KERNEL_HEAD + """
@triton.jit
def softmax(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    peak = float("-inf")
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        peak = tl.maximum(peak, tl.max(tl.load(x_ptr + row * n + at, mask=at < n, other=float("-inf"))))
    total = 0.0
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.exp(tl.load(x_ptr + row * n + at, mask=at < n, other=float("-inf")) - peak))
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
        tl.store(y_ptr + row * n + at, tl.exp(x - peak) / total, mask=at < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        softmax[(x.shape[0],)](x, y, x.shape[1], BLOCK=256)
        return y
"""
LINEAR_KERNEL = KERNEL_HEAD + """
@triton.jit
def linear_sigmoid(x_ptr, w_ptr, b_ptr, y_ptr, scale, K: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0)
    k, n = tl.arange(0, K), tl.arange(0, N)
    x = tl.load(x_ptr + row * K + k)
    w = tl.load(w_ptr + n[:, None] * K + k[None, :])
    y = tl.sum(w * x[None, :], axis=1) + tl.load(b_ptr + n)
    tl.store(y_ptr + row * N + n, tl.sigmoid(y * scale))

class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, scale):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.scale = scale

    def forward(self, x):
        y = torch.empty(x.shape[0], self.linear.out_features, device=x.device)
        linear_sigmoid[(x.shape[0],)](x, self.linear.weight, self.linear.bias, y, self.scale, K=32, N=16)
        return y
"""


def run(*arguments):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=240)


def judged(task, kernel):
    kernel_file = task.with_suffix(".kernel")
    kernel_file.write_text(kernel)
    done = run("judge", "--task", task, "--kernel", kernel_file, "--no-store", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def main():
    with tempfile.TemporaryDirectory(prefix="tritonsmith-kernelbench-") as name:
        checkout = pathlib.Path(name) / "checkout"
        for path, text in FILES.items():
            (checkout / path).parent.mkdir(parents=True, exist_ok=True)
            (checkout / path).write_text(text)

        out = pathlib.Path(name) / "tasks.jsonl"
        done = run("tasks", "import", checkout, "--out", out)
        assert done.returncode == 0, done.stderr
        tasks = [json.loads(line) for line in out.read_text().splitlines()]
        wanted = sorted(path.removeprefix("KernelBench/").removesuffix(".py") for path in FILES if "level" in path)
        assert sorted(task["id"] for task in tasks) == wanted, [task["id"] for task in tasks]
        assert {task["suite"] for task in tasks} == {"KernelBench"}
        findings = {line["task"]: [finding["rule"] for finding in line["findings"]]
                    for line in map(json.loads, (out.parent / (out.name + ".findings.jsonl")).read_text().splitlines())}
        assert "task_zeros_pass" in findings["level1/25_NothingInLarge"], findings
        assert findings["level1/26_Boundless"] == ["task_not_linted"], findings
        assert "level1/26_Boundless: task_not_linted: the task was not checked: it needs " in done.stdout, done.stdout
        assert "tasks could not be looked at to the end" in done.stdout, done.stdout

        levels = checkout / "KernelBench"
        for path, kernel in (("level1/23_Softmax.py", SOFTMAX_KERNEL), ("level2/7_Linear_Scale_Sigmoid.py", LINEAR_KERNEL)):
            verdict = judged(levels / path, kernel)
            assert verdict["accepted"], verdict
        large = judged(levels / "level1/24_LargeSoftmax.py", SOFTMAX_KERNEL)
        assert (large["stage"], large["error"]["class"]) == ("compiled", "too_large_to_evaluate"), large
        assert large["compiled"] and not large["correct"]
        unreachable = run("judge", "--task", levels / "level4/2_LanguageModel.py", "--kernel", levels / "level1/23_Softmax.kernel",
                          "--no-store")
        assert unreachable.returncode == 2 and "2_LanguageModel.py" in unreachable.stderr, unreachable
    print("a KernelBench checkout imports and is judged")


main()
