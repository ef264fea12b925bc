import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, sum_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(sum_ptr, tl.sum(tl.load(x_ptr + offsets), axis=0))


@triton.jit
def divide(x_ptr, y_ptr, sum_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) / tl.load(sum_ptr))


class ModelNew(nn.Module):
    def forward(self, x):
        y, total = torch.empty_like(x), torch.zeros(1, device=x.device)
        add[(x.numel() // 1024,)](x, total, BLOCK=1024)
        divide[(x.numel() // 1024,)](x, y, total, BLOCK=1024)
        return y
