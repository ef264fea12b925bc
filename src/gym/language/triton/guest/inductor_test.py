"""Tests that what torch.compile writes is captured, in the notations of PyTorch 2.5 to 2.11."""

import os
import sys
import unittest

sys.path[:0] = [os.environ["TRITONSMITH_GUEST"], os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../guest/testing")]

from tritonsmith_guest.capture import capture, candidate_request  # noqa: E402
from tritonsmith_guest.warm import warm  # noqa: E402

import candidate_modules  # noqa: E402

warm(thorough=False)
TASK_PLAN = capture({"role": "task", "source": candidate_modules.TASK, "path": "task.py", "target": "sm_90"})["plan"]

HEAD = '''
from ctypes import c_void_p, c_long, c_int
import torch
import torch.nn as nn
import os, random, tempfile
from math import inf, nan
from torch._inductor.hooks import run_intermediate_hooks
from torch._inductor.utils import maybe_profile
from torch._inductor.codegen.memory_planning import _align as align
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.select_algorithm import extern_kernels
from torch._inductor.codegen.multi_kernel import MultiKernelCall
import triton
import triton.language as tl
from torch._inductor.runtime.triton_heuristics import (grid, split_scan_grid, grid_combo_kernels, start_graph, end_graph,
                                                       cooperative_reduction_grid)
from torch._C import _cuda_getCurrentRawStream as get_raw_stream

aten = torch.ops.aten
inductor_ops = torch.ops.inductor
_quantized = torch.ops._quantized
assert_size_stride = torch._C._dynamo.guards.assert_size_stride
empty_strided_cpu = torch._C._dynamo.guards._empty_strided_cpu
empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
empty_strided_xpu = torch._C._dynamo.guards._empty_strided_xpu
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor
alloc_from_pool = torch.ops.inductor._alloc_from_pool
async_compile = AsyncCompile()
'''
KERNEL = """
kernel = async_compile.triton('kernel', '''
import triton
import triton.language as tl
from triton.compiler.compiler import AttrsDescriptor
from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.%s
@triton.jit
def kernel(%s):
%s
''', device_str='cuda')
"""
ENTRY = '''
async_compile.wait(globals())
del async_compile


class ModelNew(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.linear = nn.Linear(64, 64)

    def forward(self, x):
        with torch.cuda._DeviceGuard(0):
            torch.cuda.set_device(0)
            stream0 = get_raw_stream(0)
%s
'''
FLAT = """    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    tmp0 = tl.load(in_ptr0 + (xindex), xmask)
    tl.store(out_ptr0 + (xindex), triton_helpers.maximum(tl.full([1], 0, tl.int32), libdevice.tanh(tmp0)), xmask)"""
TILES = """    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[None, :]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    tl.store(out_ptr0 + (yindex + 32*xindex), tl.load(in_ptr0 + (xindex + 64*yindex), xmask & ymask), xmask & ymask)"""
ROWS = """    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    base = tl.arange(0, {block})[None, :]
    total = tl.full([XBLOCK, {block}], 0, tl.float32)
    for offset in range(0, {count}, {block}):
        inner = offset + base
        total += tl.load(in_ptr0 + (inner + 64*xindex), (inner < {count}) & xmask, other=0.0)
    tl.store(out_ptr0 + (xindex), tl.sum(total, 1)[:, None], xmask)"""
META = "filename=__file__, triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32'%s}, 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=108, cc=80), 'constants': {%s}, 'configs': [%s]}, inductor_meta={%s'mutated_arg_names': [], 'no_x_dim': False, 'kernel_name': 'kernel'}"
ATTRS = "AttrsDescriptor.from_dict({'arg_properties': {'tt.divisibility': (0, 1), 'tt.equal_to': ()}, 'cls': 'AttrsDescriptor'})"


def generated(decorator, parameters, body, forward):
    lines = "".join(f"            {line}\n" for line in forward.split("\n"))
    return HEAD + KERNEL % (decorator, parameters, body) + ENTRY % lines


def plan_of(test, source):
    answer = capture(candidate_request(TASK_PLAN, source, "candidate.py"))
    test.assertIn("plan", answer, answer.get("error"))
    return answer["plan"]


def grids(plan):
    return [[choice["grid"] for choice in step["launch"]] for step in plan["steps"] if "launch" in step]


FLAT_PARAMETERS = "in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr"


class Versions(unittest.TestCase):

    def test_the_grid_of_2_7_and_later_follows_from_the_description(self):
        source = generated("pointwise(size_hints={'x': 2048}, %s, min_elem_per_thread=0)" % (META % (
            ", 'xnumel': 'i32', 'XBLOCK': 'constexpr'", "", "{(0,): [['tt.divisibility', 16]]}", "'grid_type': 'Grid1D', ")),
            FLAT_PARAMETERS, FLAT,
            "buf0 = empty_strided_cuda((32, 64), (64, 1), torch.float32)\nkernel.run(x, buf0, 2048, stream=stream0)\nreturn buf0")
        plan = plan_of(self, source)
        (choices,) = grids(plan)
        self.assertGreater(len(choices), 1)
        self.assertTrue(all(grid[0] * block >= 2048 for grid, block in zip(choices, (256, 128))))
        self.assertEqual(plan["kernels"][0]["line"], source[:source.index("def kernel(")].count("\n") + 1)

    def test_the_grid_of_2_5_and_2_6_stands_at_the_launch(self):
        for hints, description in (("[2048]", "AttrsDescriptor(divisible_by_16=(0, 1), equal_to_1=())"), ("{'x': 2048}", ATTRS)):
            plan = plan_of(self, generated(
                f"pointwise(size_hints={hints}, %s)" % (META % (", 'xnumel': 'i32'", "", description, "")), FLAT_PARAMETERS, FLAT,
                "buf0 = empty_strided_cuda((32, 64), (64, 1), torch.float32)\n"
                "kernel.run(x, buf0, 2048, grid=grid(2048), stream=stream0)\nreturn buf0"))
            self.assertIn([8, 1, 1], grids(plan)[0])

    def test_the_sizes_of_lists_begin_with_the_outermost(self):
        plan = plan_of(self, generated(
            "pointwise(size_hints=[32, 64], tile_hint=TileHint.SQUARE, %s)" % (META % (", 'ynumel': 'i32', 'xnumel': 'i32'", "", ATTRS, "")),
            "in_ptr0, out_ptr0, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr", TILES,
            "buf0 = empty_strided_cuda((64, 32), (32, 1), torch.float32)\n"
            "kernel.run(x, buf0, 32, 64, grid=grid(32, 64), stream=stream0)\nreturn buf0"))
        for x, y, z in grids(plan)[0]:
            self.assertGreaterEqual(x, y)
            self.assertEqual(z, 1)

    def test_a_reductions_blocks_have_the_names_of_the_version(self):
        for hints, count, block in (("[32, 64]", "rnumel", "RBLOCK"), ("{'x': 32, 'r': 64}", "rnumel", "RBLOCK"),
                                    ("{'x': 32, 'r0_': 64}", "r0_numel", "R0_BLOCK")):
            plan = plan_of(self, generated(
                f"reduction(size_hints={hints}, reduction_hint=ReductionHint.INNER, %s)" % (META % (
                    f", 'xnumel': 'i32', '{count}': 'i32'", "", "", "'grid_type': 'Grid1D', " if "0" in count else "")),
                f"in_ptr0, out_ptr0, xnumel, {count}, XBLOCK : tl.constexpr, {block} : tl.constexpr", ROWS.format(block=block, count=count),
                "buf0 = empty_strided_cuda((32, ), (1, ), torch.float32)\nkernel.run(x, buf0, 32, 64, %sstream=stream0)\nreturn buf0"
                % ("" if "0" in count else "grid=grid(32), ")))
            self.assertTrue(all(grid[0] >= 1 for grid in grids(plan)[0]))

    def test_kernelbook_launches_plain_kernels_by_its_grid(self):
        source = HEAD + "from torch._inductor.runtime import triton_helpers\n" \
            "from torch._inductor.runtime.triton_helpers import libdevice\n\n\n@triton.jit\ndef kernel(" + FLAT_PARAMETERS + "):\n" + FLAT + "\n" + \
            ENTRY % ("            buf0 = empty_strided_cuda((32, 64), (64, 1), torch.float32)\n            get_raw_stream(0)\n"
                     "            kernel[grid(2048)](x, buf0, 2048, XBLOCK=128, num_warps=4, num_stages=1)\n            return buf0\n")
        self.assertEqual(grids(plan_of(self, source)), [[[16, 1, 1]]])


class Operators(unittest.TestCase):

    def steps(self, forward):
        launch = "buf9 = empty_strided_cuda((32, 64), (64, 1), torch.float32)\nkernel.run(buf0, buf9, 2048, stream=stream0)\nreturn buf9"
        plan = plan_of(self, generated("pointwise(size_hints={'x': 2048}, %s)" % (META % (
            ", 'xnumel': 'i32'", "", "", "'grid_type': 'Grid1D', ")), FLAT_PARAMETERS, FLAT, forward + "\n" + launch))
        return [step["aten"] for step in plan["steps"] if "aten" in step and step["phase"] == "forward"][:-1]

    def test_extern_kernels_are_the_operators_that_they_name(self):
        weight = "reinterpret_tensor(self.linear.weight, (64, 64), (1, 64), 0)"
        buffer = "buf0 = empty_strided_cuda((32, 64), (64, 1), torch.float32)\n"
        self.assertEqual(self.steps(f"{buffer}extern_kernels.mm(x, {weight}, out=buf0)")[1:], ["aten::as_strided", "aten::mm.out"])
        self.assertEqual(self.steps(f"{buffer}extern_kernels.addmm(self.linear.bias, x, {weight}, alpha=1, beta=1, out=buf0)")[2:],
                         ["aten::addmm.out"])
        rows = "reinterpret_tensor(self.linear.bias, (32, 64), (0, 1), 0)"
        self.assertEqual(self.steps(f"{buffer}extern_kernels.bias_addmm({rows}, x, {weight}, alpha=1, beta=1, out=buf0)")[-1],
                         "aten::addmm.out")
        self.assertEqual(self.steps("buf0 = aten.sigmoid.default(x)"), ["aten::sigmoid"])

    def test_inductors_own_operators_are_views(self):
        self.assertEqual(self.steps("buf0 = inductor_ops._reinterpret_tensor(x, (16, 128), (128, 1), 0)"), ["aten::as_strided"])
        steps = self.steps("pool = empty_strided_cuda((8192, ), (1, ), torch.uint8)\n"
                           "buf0 = alloc_from_pool(pool, 0, torch.float32, (32, 64), (64, 1))\nbuf0.copy_(x)")
        self.assertNotIn("inductor", "".join(steps))
        self.assertEqual(steps[-1], "aten::copy_")

    def test_a_wrong_size_or_stride_raises(self):
        for assertion in ("assert_size_stride(x, (32, 65), (65, 1))", "assert_size_stride(x, (32, 64), (1, 32))"):
            answer = capture(candidate_request(TASK_PLAN, HEAD + ENTRY % f"            {assertion}\n            return x\n", "candidate.py"))
            self.assertEqual(answer["error"]["class"], "exception")
            self.assertIn("AssertionError", answer["error"]["message"])

    def test_a_convolution_keeps_the_channels_last(self):
        forward = ("image = torch.empty_strided((2, 16, 8, 8), (1024, 1, 128, 16), device='cuda')\n"
                   "weight = empty_strided_cuda((4, 16, 3, 3), (144, 9, 3, 1), torch.float32)\n"
                   "buf0 = extern_kernels.convolution(image, weight, stride=(1, 1), padding=(1, 1), dilation=(1, 1), transposed=False, "
                   "output_padding=(0, 0), groups=1, bias=None)\nassert_size_stride(buf0, (2, 4, 8, 8), (256, 1, 32, 4))\n"
                   "buf0 = x")
        self.assertIn("aten::convolution", self.steps(forward))

    def test_other_compilers_of_inductor_are_refused(self):
        for line in ("async_compile.cpp('void f() {}')", "MultiKernelCall(1)", "grid_combo_kernels(1)"):
            answer = capture(candidate_request(TASK_PLAN, HEAD + line + "\n" + ENTRY % "            return x\n", "candidate.py"))
            self.assertIn(answer["error"]["class"], ("not_captured", "unsupported_launch"), line)


if __name__ == "__main__":
    unittest.main(verbosity=1)
