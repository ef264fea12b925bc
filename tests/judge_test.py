"""`tritonsmith judge` from outside: real guests, real compilers, real evaluation; one verdict for each kind of candidate.

usage: judge_test.py PATH_OF_TRITONSMITH
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

BINARY = sys.argv.pop(1) if len(sys.argv) > 1 else os.environ["TRITONSMITH_BINARY"]

TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        return torch.relu(self.norm(x))

def get_inputs():
    return [torch.randn(16, 64)]

def get_init_inputs():
    return [64]
"""

HEAD = """
import torch
import torch.nn as nn
import triton
import triton.language as tl
"""

KERNEL = """
@triton.jit
def norm_relu(x_ptr, w_ptr, b_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centered = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / n
    y = centered / tl.sqrt(variance + 1e-5)
    y = y * tl.load(w_ptr + columns, mask=mask) + tl.load(b_ptr + columns, mask=mask)
    tl.store(y_ptr + row * n + columns, tl.maximum(y, 0.0), mask=mask)
"""

MODULE = """
class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        y = torch.empty_like(x)
        norm_relu[(x.shape[0],)](x, self.norm.weight, self.norm.bias, y, x.shape[1], BLOCK=64)
        return y
"""

GOOD = HEAD + KERNEL + MODULE


class Judge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def run_judge(self, kernel, *options, task=TASK):
        command = [BINARY, "judge", "--task", self.path("task.py", task), "--kernel", self.path("kernel.py", kernel)]
        return subprocess.run([*command, *options], capture_output=True, text=True, timeout=120)

    def verdict(self, kernel, *options, task=TASK):
        done = self.run_judge(kernel, "--json", *(options or ["--no-store"]), task=task)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 1, done.stdout)
        return json.loads(lines[0])

    def assert_ends(self, kernel, stage, error_class, line_text=None):
        verdict = self.verdict(kernel)
        self.assertEqual((verdict["stage"], verdict["error"]["class"]), (stage, error_class), verdict)
        self.assertFalse(verdict["accepted"])
        if line_text is not None:
            self.assertIn(line_text, verdict["error"]["excerpt"])
        return verdict

    def test_a_right_kernel_is_accepted_with_what_the_compiler_made_of_it(self):
        verdict = self.verdict(GOOD)
        self.assertTrue(verdict["accepted"], verdict)
        self.assertEqual(verdict["stage"], "correct")
        self.assertEqual(verdict["numerics"]["trials"], 3)
        self.assertGreater(verdict["kernels"][0]["registers"], 0)
        self.assertEqual(verdict["kernels"][0]["launches"], 1)

    def test_a_repeat_is_answered_from_the_store(self):
        store = os.path.join(self.folder.name, "store")
        self.assertFalse(self.verdict(GOOD, "--store", store)["from_store"])
        again = self.verdict(GOOD, "--store", store)
        self.assertTrue(again["from_store"] and again["accepted"])
        self.assertFalse(self.verdict(GOOD, "--store", store, "--trials", "4")["from_store"])

    def test_each_way_to_fail_has_its_stage_and_class(self):
        self.assert_ends("def broken(:\n", "extracted", "syntax_error")
        self.assert_ends(GOOD.replace("tl.sqrt(", "tl.no_such_function("), "inspected", "compile_error", "no_such_function")
        self.assert_ends(GOOD.replace("x.shape[0],)]", "x.no_such_attribute,)]"), "inspected", "exception", "norm_relu[")
        self.assert_ends(GOOD.replace("tl.maximum(y, 0.0)", "y"), "ran", "wrong_value")
        self.assert_ends(GOOD.replace("row * n + columns, tl", "row * n + columns + 1, tl"), "compiled", "out_of_bounds", "tl.store")
        self.assert_ends(GOOD.replace("(x.shape[0],)", "(x.shape[0] // 2,)"), "ran", "unwritten")

    def test_an_ignored_bias_of_zeros_does_not_pass(self):
        self.assert_ends(GOOD.replace(" + tl.load(b_ptr + columns, mask=mask)", ""), "ran", "wrong_value")

    def test_what_torch_may_compute_is_the_policys_to_say(self):
        helped = GOOD.replace("return y\n", "return y * 1.0\n").replace("tl.maximum(y, 0.0)", "tl.maximum(y, 0.0)")
        strict = self.verdict(helped)
        self.assertFalse(strict["accepted"])
        self.assertIn("torch_compute", [finding["rule"] for finding in strict["findings"]])
        self.assertTrue(self.verdict(helped, "--no-store", "--policy", "open")["accepted"])

    def test_a_task_that_does_not_import_is_one_clear_line(self):
        done = self.run_judge(GOOD, "--no-store", task="import no_such_module\n")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertIn("task.py", done.stderr)

    def test_a_missing_file_is_one_clear_line(self):
        done = subprocess.run([BINARY, "judge", "--task", "/nowhere/task.py", "--kernel", "/nowhere/kernel.py"],
                              capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertIn("/nowhere/task.py", done.stderr)


if __name__ == "__main__":
    unittest.main()
