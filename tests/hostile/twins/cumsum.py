import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scan(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(y_ptr + offsets, tl.cumsum(x, axis=0), mask=offsets < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        scan[(1,)](x, y, x.numel(), BLOCK=256)
        return y
