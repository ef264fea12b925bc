import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scan(x_ptr, y_ptr, total_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    before = tl.atomic_add(total_ptr, tl.sum(x, axis=0))
    tl.store(y_ptr + offsets, before + tl.cumsum(x, axis=0), mask=offsets < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        total = torch.zeros(1, device=x.device)
        scan[(triton.cdiv(x.numel(), 32),)](x, y, total, x.numel(), BLOCK=32)
        return y
