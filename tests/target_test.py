"""Tests `tritonsmith judge --target`: honest kernels are captured, compiled and evaluated for each chip, on a machine without it.

usage: target_test.py PATH_OF_TRITONSMITH
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BINARY = sys.argv.pop(1) if len(sys.argv) > 1 else os.environ["TRITONSMITH_BINARY"]
ROOT = pathlib.Path(__file__).resolve().parent
PROPERTIES = (ROOT.parent / "src/gym/guest/virtual_gpu/device_properties.py").read_text()
TARGETS = re.findall(r'^    "(sm_\d+)":', PROPERTIES, re.MULTILINE)
# Multiprocessors, bytes of shared memory that a block may ask for, GiB of memory, MiB of L2 cache.
CHIPS = {"sm_80": (108, 166912, 80, 40), "sm_86": (84, 101376, 48, 6), "sm_89": (142, 101376, 48, 96),
         "sm_90": (132, 232448, 140, 60), "sm_100": (148, 232448, 180, 126), "sm_120": (188, 101376, 96, 128)}
HONEST = [ROOT / "honest/files" / f"matmul__{name}.py"
          for name in ("autotuned", "descriptors", "host_descriptors", "ieee")]

# Four buffers of 32 KiB each: as much as an A100 has, and more than an A6000 has.
PIPELINE = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def product(x_ptr, y_ptr, z_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        inner = start + tl.arange(0, BK)
        x = tl.load(x_ptr + rows[:, None] * K + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < K), other=0.0)
        y = tl.load(y_ptr + inner[:, None] * N + columns[None, :], mask=(inner[:, None] < K) & (columns[None, :] < N), other=0.0)
        total += tl.dot(x, y)
    tl.store(z_ptr + rows[:, None] * N + columns[None, :], total.to(tl.float16), mask=(rows[:, None] < M) & (columns[None, :] < N))

class ModelNew(nn.Module):
    def forward(self, x, y):
        z = torch.empty(x.shape[0], y.shape[1], device=x.device, dtype=x.dtype)
        grid = triton.cdiv(z.shape[0], 128), triton.cdiv(z.shape[1], 128)
        product[grid](x, y, z, *z.shape, x.shape[1], BM=128, BN=128, BK=64, num_stages=5)
        return z
"""
PIPELINE_TASK = """
import torch

class Model(torch.nn.Module):
    def forward(self, x, y):
        return x @ y

def get_inputs():
    return [torch.randn(64, 96, dtype=torch.float16), torch.randn(96, 64, dtype=torch.float16)]

def get_init_inputs():
    return []
"""
# A candidate that says what the chip says of itself.
ASKS = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def nothing(x_ptr):
    tl.store(x_ptr, 0.0)

CHIP = torch.cuda.get_device_properties(0)
LIMITS = triton.runtime.driver.active.utils.get_device_properties(0)
raise RuntimeError(f"{CHIP.major}{CHIP.minor} {CHIP.multi_processor_count} {CHIP.shared_memory_per_block_optin} "
                   f"{LIMITS['max_shared_mem']} {CHIP.regs_per_multiprocessor} {CHIP.warp_size} {CHIP.total_memory >> 30} "
                   f"{CHIP.L2_cache_size >> 20}")

class ModelNew(nn.Module):
    def forward(self, x, y):
        nothing[(1,)](x)
        return x
"""


def judge(target, task, kernels, *options):
    command = [BINARY, "judge", "--target", target, "--task", task, "--kernel", *kernels, *(options or ["--no-store"])]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False)


class Target(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        for name, text in (("product", PIPELINE_TASK), ("pipeline", PIPELINE), ("asks", ASKS)):
            (cls.path / f"{name}.py").write_text(text)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def judge(self, target, *options):
        """Judges a kernel that needs 128 KiB of shared memory."""
        return judge(target, self.path / "product.py", [self.path / "pipeline.py"], *options)

    def test_honest_kernels_are_judged_for_every_chip_on_a_machine_without_it(self):
        def judged(target):
            # One process judges all kernels, because the start takes most of the time of a single verdict.
            return judge(target, ROOT / "tasks/matmul.py", [*HONEST, self.path / "asks.py"], "--no-store", "--json")

        self.assertEqual(TARGETS, list(CHIPS))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            told = dict(zip(TARGETS, pool.map(judged, TARGETS)))
        for target, done in told.items():
            with self.subTest(target):
                self.assertEqual(done.returncode, 0, done.stderr)
                *honest, asks = [json.loads(line) for line in done.stdout.splitlines()]
                self.assertEqual(len(honest), len(HONEST))
                for verdict in honest:
                    self.assertTrue(verdict["accepted"], verdict)
                    self.assertEqual(verdict["environment"]["target"], target)
                    self.assertEqual(verdict["environment"]["gpu"], f"{target} (compiled, not run)")
                processors, shared, memory, cache = CHIPS[target]
                self.assertIn(f": {target[3:]} {processors} {shared} {shared} 65536 32 {memory} {cache}",
                              asks["error"]["message"])

    def test_a_kernel_that_asks_for_too_much_shared_memory_is_told_so_for_that_chip(self):
        """And the store keeps the verdicts of each chip apart."""
        for target, known in (("sm_86", False), ("sm_90", False), ("sm_86", True)):
            verdict = json.loads(self.judge(target, "--store", self.path / "store", "--json").stdout)
            self.assertEqual((verdict["from_store"], verdict["accepted"]), (known, target == "sm_90"), verdict)
            self.assertEqual(verdict["environment"]["target"], target)
            if target == "sm_86":
                self.assertEqual((verdict["compiled"], verdict["error"]["class"]), (False, "out_of_resources"))
                self.assertIn("131072 bytes needed, 101376 available", verdict["error"]["message"])

    def test_the_text_names_the_target(self):
        done = self.judge("sm_120")
        self.assertIn("(its Python ran, and no kernel did; policy strict; judged on a CPU, for the chip sm_120)", done.stdout)
        self.assertIn("out_of_resources: shared memory: 131072 bytes needed, 101376 available", done.stdout)

    def test_an_unknown_target_gets_one_line_with_the_list(self):
        done = self.judge("sm_75")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "tritonsmith: the target 'sm_75' is not known; name one of "
                                      f"{', '.join(TARGETS)}\n")


if __name__ == "__main__":
    unittest.main()
