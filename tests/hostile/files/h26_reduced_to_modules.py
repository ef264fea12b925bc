import functools

import torch
import torch.nn as nn
import triton
import triton.language as tl

MODULES = functools.reduce(getattr, "sys modules".split(), torch)


@triton.jit
def silu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x * tl.sigmoid(x), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        silu[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
        return y
