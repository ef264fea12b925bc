import functools

import torch
import torch.nn as nn
import triton
import triton.language as tl


def raw_rsqrt(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.rsqrt(tl.abs(x) + 0.5), mask=mask)


@functools.lru_cache(maxsize=None)
def builder(block):
    function = triton.jit(raw_rsqrt)
    return lambda x, y: function[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), BLOCK=block)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        builder(512)(x, y)
        return y
