"""Tests `tritonsmith eval --from-samples` from outside, with real guests, on a small suite in KernelBench's layout.

usage: eval_samples_test.py PATH_OF_TRITONSMITH
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BINARY = sys.argv.pop(1) if len(sys.argv) > 1 else os.environ["TRITONSMITH_BINARY"]

TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return {expression}

def get_inputs():
    return [torch.randn(64, 32)]

def get_init_inputs():
    return []
"""

KERNEL = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(y_ptr + at, {expression}, mask=at < n)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y
"""

RELU = KERNEL.format(expression="tl.maximum(x, 0.0)")
TWICE = KERNEL.format(expression="x * 2")
PYTORCH = """
import torch

class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
"""


class EvalSamplesTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.suite, self.run, self.out = (self.folder / name for name in ("KernelBench", "run", "out"))
        self.run.mkdir()
        for task, expression in (("level1/1_ReLU", "torch.relu(x)"), ("level1/10_Twice", "x * 2"), ("level2/1_Relu", "torch.relu(x)")):
            file = self.suite / (task + ".py")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(TASK.format(expression=expression))
        (self.run / "generation_config.yaml").write_text("run_name: small\n")

    def sample(self, level, problem, sample, kernel):
        (self.run / f"level_{level}_problem_{problem}_sample_{sample}_kernel.py").write_text(kernel)

    def command(self, *more):
        return [BINARY, "eval", "--suite", self.suite, "--from-samples", self.run, "--out", self.out, "--backend", "evaluate", *more]

    def evaluate(self, *more, code=0):
        done = subprocess.run(self.command(*more), capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def results(self, name="eval_results.json"):
        return json.loads((self.out / name).read_text())

    def test_one_level_gives_kernelbenchs_results_and_a_second_call_judges_nothing(self):
        self.sample(1, 1, 0, RELU)
        self.sample(1, 1, 1, TWICE)
        self.sample(1, 1, 2, PYTORCH)
        self.sample(1, 10, 0, TWICE)
        done = self.evaluate()
        self.assertIn("50.0 %", done.stdout)
        results = self.results()
        self.assertEqual(list(results), ["1", "10"])
        self.assertEqual([(each["sample_id"], each["compiled"], each["correctness"]) for each in results["1"]],
                         [(0, True, True), (1, True, False), (2, False, False)])
        self.assertEqual(results["10"][0]["correctness"], True)
        for each in results["1"]:
            self.assertEqual((each["runtime"], each["runtime_stats"]), (-1.0, {}))
        self.assertEqual(results["1"][1]["metadata"]["tritonsmith"]["error"], "wrong_value")
        self.assertIn("no_triton_kernel", results["1"][2]["metadata"]["compilation_error"])
        self.assertEqual(json.loads((self.out / "evaluation.json").read_text())["tasks"], 2)
        records = (self.out / "samples.jsonl").read_bytes()
        self.evaluate()
        self.assertEqual((self.out / "samples.jsonl").read_bytes(), records, "a sample was judged again")
        self.assertEqual(self.results(), results)

    def test_several_levels_have_a_file_each_and_a_killed_call_goes_on(self):
        for sample in range(3):
            self.sample(1, 1, sample, RELU + f"# {sample}\n")
        self.sample(2, 1, 0, RELU)
        records = self.out / "samples.jsonl"
        process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (records.exists() and b"\n" in records.read_bytes()):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
                break
        process.kill()
        process.wait(60)
        first = records.read_bytes().splitlines()[0]
        self.evaluate()
        lines = records.read_bytes().splitlines()
        self.assertEqual((len(lines), lines[0]), (4, first))
        self.assertEqual([each["sample_id"] for each in self.results("eval_results_level_1.json")["1"]], [0, 1, 2])
        self.assertEqual(len(self.results("eval_results_level_2.json")["1"]), 1)
        self.assertFalse((self.out / "eval_results.json").exists())
        out, self.out = self.out, self.folder / "second level"
        self.evaluate("--level", "2")
        self.assertEqual(list(self.results()), ["1"])

    def test_what_is_wrong_is_said_in_one_line_before_anything_is_judged(self):
        self.assertIn("holds no samples", self.evaluate(code=2).stderr)
        self.sample(1, 1, 0, RELU)
        self.assertIn("--temperature: --from-samples needs no model", self.evaluate("--temperature", "1", code=2).stderr)
        self.sample(1, 7, 0, RELU)
        self.assertIn("level_1_problem_7_sample_0_kernel.py: the suite has no problem 7 of level 1", self.evaluate(code=2).stderr)
        neither = subprocess.run([BINARY, "eval", "--suite", self.suite, "--out", self.out], capture_output=True, text=True)
        self.assertEqual(neither.returncode, 2)
        self.assertIn("--model is required, or --from-samples", neither.stderr)
        self.assertFalse((self.out / "samples.jsonl").exists())

    def test_a_gym_that_is_away_is_a_fault_and_no_result(self):
        self.sample(1, 1, 0, RELU)
        self.evaluate("--gym", "http://127.0.0.1:9", code=3)
        self.assertFalse((self.out / "eval_results.json").exists())


if __name__ == "__main__":
    unittest.main()
