import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scan(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    part = tl.program_id(0)
    offsets = part * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.atomic_add(y_ptr + offsets, x * 0.0, mask=mask)
    before = tl.load(y_ptr + part * BLOCK - 1, mask=part > 0, other=0.0)
    tl.store(y_ptr + offsets, before + tl.cumsum(x, axis=0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.zeros_like(x)
        scan[(triton.cdiv(x.numel(), 32),)](x, y, x.numel(), BLOCK=32)
        return y
