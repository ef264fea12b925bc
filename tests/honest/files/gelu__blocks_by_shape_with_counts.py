import functools

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gelu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476)), mask=mask)


@functools.lru_cache(maxsize=16)
def block_for(size):
    return 1024 if size > 512 else 512


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.uses = {}

    def forward(self, x):
        block = block_for(x.numel())
        self.uses[block] = self.uses.get(block, 0) + 1
        y = torch.empty_like(x)
        gelu[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), BLOCK=block)
        return y
