"""Tests `judge`, `write` and `tasks from-module` on classes and functions of a small package, as its author has them.

usage: module_test.py PATH_OF_TRITONSMITH
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

BINARY = sys.argv.pop(1)

FILES = {
    "net/__init__.py": "from .block import Block\n",
    "net/config.py": """
import dataclasses

@dataclasses.dataclass
class Config:
    width: int = 64
    eps: float = 1e-5
""",
    "net/ops.py": """
import torch

def scale(x, eps):
    return torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)

def relu(x):
    return torch.relu(x)
""",
    "net/block.py": """
import torch
from torch import nn

from . import ops
from .config import Config

ROWS = 16

class Linear(nn.Linear):
    pass

class Block(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config.width))
        self.eps = config.eps

    def forward(self, x):
        scale = ops.scale(x, self.eps)
        return ops.relu(x * scale * self.weight)
""",
    "train.py": """
import sys
from net import Block
from net.config import Config

names = open("names.txt").read()

def gate(x, factor=2.0):
    return x * factor

def named(x):
    return x * len(names)

sys.exit("the script ran")
""",
    "run.py": """
import argparse
import torch
from net import Block
from net.config import Config

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int)
block = Block(Config(width=parser.parse_args().width))
for rows in (16, 16, 8):
    block(torch.randn(rows, 64))
torch.nn.Linear(64, 8)(torch.randn(2, 64))
raise SystemExit("the script failed")
""",
    "net/kit.py": """
def gate(x, *, factor=2.0):
    return x * factor
""",
    "loop.py": """
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from net import Block
from net.config import Config

def main():
    torch.manual_seed(1)
    model = nn.Sequential(Block(Config()), nn.Linear(64, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = TensorDataset(torch.randn(20, 64), torch.randint(0, 4, (20,)))
    for epoch in range(2):
        model.train()
        for x, labels in DataLoader(data, batch_size=8, shuffle=True, num_workers=1):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = F.cross_entropy(model(x), labels)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()

if __name__ == "__main__":
    main()
""",
    "infer.py": """
import torch
from torch import nn
from net import Block
from net.config import Config

class Residual(nn.Module):
    def __init__(self, inner: nn.Module, scale: float = 1.0):
        super().__init__()
        self.inner, self.scale = inner, scale

    def forward(self, x, **options):
        return x + self.scale * self.inner(x, **options)

class Small(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.embed = nn.Embedding(50, 64)
        self.blocks = nn.ModuleList(Residual(Block(Config(width=64)), scale=0.5) for _ in range(depth))
        self.head = nn.Linear(64, 50, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)

@torch.inference_mode()
def generate(model, tokens, count):
    for _ in range(count):
        tokens = torch.cat([tokens, model(tokens)[:, -1:].argmax(-1)], 1)
    return tokens

model = torch.compile(Small(2).to(torch.bfloat16).eval())
generate(model, torch.randint(0, 50, (2, 5)), 3)
""",
    "bench.py": """
import torch
from net.kit import gate as gate_by

for rows, width in ((4, 64), (4, 64), (7, 33)):
    gate_by(torch.randn(rows, width), factor=3.0)
gate_by(torch.randn(4, 64))
""",
}

KERNEL = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def norm_relu(x_ptr, w_ptr, y_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    y = x / tl.sqrt(tl.sum(x * x, axis=0) / n + eps) * tl.load(w_ptr + columns, mask=mask)
    tl.store(y_ptr + row * n + columns, tl.maximum(y, 0.0), mask=mask)

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(64))

    def forward(self, x):
        y = torch.empty_like(x)
        norm_relu[(x.numel() // x.shape[-1],)](x, self.weight, y, x.shape[-1], 1e-5, BLOCK=64)
        return y
"""

GATE = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def gate(x_ptr, y_ptr, factor, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n) * factor, mask=at < n)

class ModelNew(nn.Module):
    def forward(self, x, factor):
        y = torch.empty_like(x)
        gate[(triton.cdiv(x.numel(), 128),)](x, y, factor, x.numel(), BLOCK=128)
        return y
"""


class Modules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        for name, text in FILES.items():
            (cls.folder / name).parent.mkdir(exist_ok=True)
            (cls.folder / name).write_text(text)
        linear = GATE.replace("(nn.Module):\n", "(nn.Module):\n    def __init__(self, width, out):\n        super().__init__()\n")
        linear = linear.replace("forward(self, x, factor)", "forward(self, x, factor=1.0)")
        kernels = {"linear.py": linear, "right.py": KERNEL, "wrong.py": KERNEL.replace("/ n + eps", "/ n"), "gate.py": GATE}
        for name, text in kernels.items():
            (cls.folder / name).write_text(text)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def run_program(self, *words, **environment):
        return subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=240, cwd=self.folder,
                              env={**os.environ, **environment})

    def refused(self, done, *needles):
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1), done.stderr)
        for needle in needles:
            self.assertIn(needle, done.stderr)

    def test_a_right_and_a_wrong_kernel_for_a_class_of_a_package(self):
        done = self.run_program("judge", "--task", "net/block.py:Block", "--inputs", "randn(ROWS, 64)", "--init", "Config()",
                                "--kernel", "right.py", "wrong.py", "--no-store", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        right, wrong = map(json.loads, done.stdout.splitlines())
        self.assertTrue(right["accepted"], right)
        self.assertEqual((wrong["accepted"], wrong["error"]["class"]), (False, "wrong_value"), wrong)

    def test_a_kernel_must_be_right_for_all_inputs(self):
        shapes = ("--inputs", "randn(ROWS, 64)", "--inputs", "randn(2, 3, 64)", "--init", "Config()")
        one_shape = KERNEL.replace("x.numel() // x.shape[-1]", "x.shape[0]")
        (self.folder / "flat.py").write_text(one_shape)
        done = self.run_program("judge", "--task", "net/block.py:Block", *shapes, "--kernel", "right.py", "flat.py", "--no-store")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"right.py: Block with randn\(ROWS, 64\) +accepted\n")
        self.assertRegex(done.stdout, r"right.py: Block with randn\(2, 3, 64\) +accepted\n")
        self.assertRegex(done.stdout, r"flat.py: Block with randn\(ROWS, 64\) +accepted\n")
        self.assertRegex(done.stdout, r"flat.py: Block with randn\(2, 3, 64\) +wrong +unwritten")
        self.assertIn("3 of 4 accepted", done.stdout)
        self.refused(self.run_program("tasks", "from-module", "net/block.py:Block", *shapes), "give --inputs once")

    def test_a_function_of_a_script_that_nothing_runs(self):
        done = self.run_program("judge", "--task", "train:gate", "--inputs", "randn(8, 100), factor=3.0", "--kernel", "gate.py",
                                "--no-store")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("gate: accepted", done.stdout)

    def test_a_task_is_printed_and_judged_as_any_other(self):
        words = ("tasks", "from-module", "net:Block", "--inputs", "randn(ROWS, 64)", "--init", "Config(width=64)")
        done = self.run_program(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("class Model(Block):", done.stdout)
        self.assertNotIn("import ops", done.stdout)
        written = self.run_program(*words, "--out", "task.py")
        self.assertEqual((written.returncode, written.stdout), (0, ""), written.stderr)
        self.assertEqual((self.folder / "task.py").read_text(), done.stdout)
        listed = self.run_program("tasks", "list", "task.py")
        self.assertIn("1 task\n", listed.stdout, listed.stderr)

    def test_the_calls_of_a_script_become_inputs(self):
        script = (sys.executable, "run.py", "--width", "64")
        done = self.run_program("capture", "--", *script)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"1  net/block.py:Block +3  randn\(\(16, 64\)\).* and 1 more\n +2  torch.nn")
        self.assertIn("the command exited with code 1; what it called before is recorded", done.stderr)
        words = shlex.split(re.search(r"tritonsmith (tasks from-module .*)", done.stdout)[1])
        made = self.run_program(*words)
        self.assertIn("class Model(Block):", made.stdout, made.stderr)
        done = self.run_program("capture", "--module", "Block", "--out", "block.json", "--", *script)
        self.assertIn("1  net/block.py:Block: 1 instance, 3 calls\n     constructed with Config(width=64, eps=1e-05)\n"
                      "     called 2 times with randn((16, 64))", done.stdout, done.stderr)
        judged = self.run_program("judge", "--task", "net/block.py:Block", "--captured", "block.json", "--kernel", "right.py",
                                  "--no-store")
        self.assertEqual(judged.returncode, 0, judged.stdout + judged.stderr)
        self.assertIn("2 of 2 accepted", judged.stdout)
        self.refused(self.run_program("judge", "--task", "net/ops.py:relu", "--captured", "block.json", "--kernel", "right.py"),
                     "holds no call of net/ops.py:relu")

    def test_a_training_loop_under_autocast(self):
        done = self.run_program("capture", "--module", "Block", "--out", "loop.json", "--", sys.executable, "loop.py")
        self.assertIn("called 4 times with randn((8, 64)), called under autocast to torch.bfloat16", done.stdout, done.stderr)
        self.assertIn("--dtype bf16 gives weights and inputs that type", done.stdout)
        half = KERNEL.replace("torch.ones(64)", "torch.ones(64, dtype=torch.bfloat16)").replace("other=0.0)", "other=0.0).to(tl.float32)")
        (self.folder / "half.py").write_text(half)
        task = ("--task", "net/block.py:Block", "--captured", "loop.json")
        judged = self.run_program("judge", *task, "--dtype", "bf16", "--kernel", "half.py", "--no-store")
        self.assertIn("2 of 2 accepted", judged.stdout, judged.stderr)  # two shapes: the last batch is smaller
        judged = self.run_program("judge", *task, "--kernel", "right.py", "--no-store")
        self.assertIn("2 of 2 accepted", judged.stdout, judged.stderr)

    def test_an_inference_script_with_wrapped_modules(self):
        done = self.run_program("capture", "--module", "Residual", "--out", "infer.json", "--", sys.executable, "infer.py")
        self.assertIn("constructed with Block(Config(width=64, eps=1e-05)), scale=0.5", done.stdout, done.stderr)
        self.assertIn("weights in bf16", done.stdout)
        made = self.run_program("tasks", "from-module", "infer.py:Residual", "--captured", "infer.json")
        self.assertIn("super().__init__(Block(Config(width=64, eps=1e-05)), scale=0.5)\n        self.to(torch.bfloat16)", made.stdout)
        self.assertNotIn("generate", made.stdout)

    def test_a_function_that_a_script_calls_by_keywords_with_several_shapes(self):
        command = ("--out", "gate.json", "--", sys.executable, "bench.py")
        done = self.run_program("capture", *command)
        self.assertIn("called no torch module; a function is recorded if --module names it", done.stderr)
        done = self.run_program("capture", "--module", "net.kit:gate", *command)
        self.assertIn("1  net/kit.py:gate: 3 calls\n     called 2 times with randn((4, 64))", done.stdout, done.stderr)
        self.assertIn("factor=3.0", done.stdout)
        judged = self.run_program("judge", "--task", "net.kit:gate", "--captured", "gate.json", "--kernel", "gate.py", "--no-store")
        self.assertIn("2 of 2 accepted", judged.stdout, judged.stderr)
        done = self.run_program("capture", "--module", "gates", *command)
        self.assertIn("called no torch module and no gates", done.stderr)

    def test_a_capture_that_records_nothing_says_why(self):
        (self.folder / "empty.py").write_text("print(1)")
        done = self.run_program("capture", "--", sys.executable, "empty.py")
        self.assertEqual((done.returncode, done.stdout), (2, "1\n"))
        self.assertIn("the command called no torch module; a function is", done.stderr)
        done = self.run_program("capture", "--", sys.executable, "-I", "empty.py")
        self.assertEqual((done.returncode, done.stdout), (2, "1\n"))
        self.assertIn("no Python that can be recorded ran; it must not run with -I, -E or -S", done.stderr)
        done = self.run_program("capture", "--seconds", "1", "--", "sleep", "60")
        self.assertIn("no Python that can be recorded ran, and the command was stopped after 1 s", done.stderr)
        self.refused(self.run_program("capture", "--", "empty.py"), "type `-- python empty.py ...`")
        self.refused(self.run_program("capture", "--out", "right.py", "--", sys.executable, "empty.py"), "holds something else")
        self.assertNotIn("because it stands after --", done.stderr)
        misplaced = (sys.executable, "-I", "empty.py", "--module", "Block", "--out=x", "--steps", "2")
        done = self.run_program("capture", "--", *misplaced)
        self.assertIn("your script gets --module, because it stands after --; if you mean capture's --module, put it before --",
                      done.stderr)
        self.assertIn("your script gets --out, because", done.stderr)
        done = self.run_program("capture", "--out", "x.json", "--module", "Block", "--", *misplaced)
        self.assertNotIn("because it stands after --", done.stderr)
        done = self.run_program("capture", "--module", "Blok", "--", sys.executable, "run.py", "--width", "64")
        self.assertIn("the command called no Blok; did you mean Block?", done.stderr)

    def test_a_script_without_end_is_stopped(self):
        (self.folder / "endless.py").write_text("import torch\nlinear = torch.nn.Linear(4, 4)\nwhile True:\n"
                                                "    linear(torch.ones(2, 4))\n")
        done = self.run_program("capture", "--seconds", "6", "--module", "Linear", "--", sys.executable, "endless.py")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("constructed with 4, 4", done.stdout)
        self.assertIn("the command was stopped after 6 s; what it called before is recorded", done.stderr)

    def test_equal_classes_in_the_list_show_their_arguments(self):
        (self.folder / "two.py").write_text("import torch\nfor width in (8, 4):\n"
                                            "    torch.nn.Linear(4, width)(torch.ones(2, 4))\n")
        done = self.run_program("capture", "--out", "two.json", "--", sys.executable, "two.py")
        self.assertIn("constructed with 4, 8", done.stdout, done.stderr)
        self.assertIn("constructed with 4, 4", done.stdout, done.stderr)

    def test_what_cannot_be_done_is_one_line(self):
        def task(name, *words):
            return self.run_program("tasks", "from-module", name, *words)
        self.refused(task("net/block.py:Blok", "--inputs", "randn(4, 64)"), "net/block.py defines no Blok; did you mean Block?")
        self.refused(task("net:Blok", "--inputs", "randn(4, 64)"), "net/__init__.py defines no Blok; did you mean Block?")
        self.refused(task("net/block.py:Block", "--inputs", "randn(4, 64)"), "Block(config) needs `config`", "--init")
        self.refused(task("net/block.py:Block", "--init", "Config()"), "forward(x) needs `x`", "--inputs")
        self.refused(task("net/none.py:Block"), "net/none.py: No such file")
        self.refused(task("net/block.py"), "defines no class Model", "net/block.py:NAME, with --inputs")
        self.refused(task("net/block.py", "--inputs", "randn(4)"), "need the name of a class or function: net/block.py:NAME")
        self.refused(self.run_program("write", "net/block.py:Block", "--model", "none"), "needs `config`")
        self.refused(self.run_program("judge", "--task", "net/block.py:Block", "--kernel", "right.py"), "needs `config`")
        self.refused(self.run_program("tasks", "from-module", "net:Block", TRITONSMITH_PYTHON="/nowhere/python"),
                     "/nowhere/python")

    def test_a_failure_of_the_users_code_says_what_to_do(self):
        done = self.run_program("judge", "--task", "train.py:named", "--inputs", "randn(4)", "--kernel", "gate.py", "--no-store")
        self.refused(done, "names.txt", "--data DIR", "`tritonsmith tasks from-module`")
        done = self.run_program("judge", "--task", "net/block.py:Linear", "--inputs", "randn(4, 8, dtype=bf16)", "--init", "8, 8",
                                "--kernel", "linear.py", "--no-store")
        self.refused(done, "--dtype converts")


if __name__ == "__main__":
    unittest.main()
