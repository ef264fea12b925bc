import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    gdc_launch_dependents()
    tl.store(y_ptr + offsets, x * 1.5 + 0.25, mask=offsets < n)


@triton.jit
def relu(y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_wait()
    y = tl.load(y_ptr + offsets, mask=offsets < n)
    tl.store(z_ptr + offsets, tl.maximum(y, 0.0), mask=offsets < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y, z, grid = torch.empty_like(x), torch.empty_like(x), (triton.cdiv(x.numel(), 1024),)
        scale[grid](x, y, x.numel(), BLOCK=1024, launch_pdl=True)
        relu[grid](y, z, x.numel(), BLOCK=1024, launch_pdl=True)
        return z
