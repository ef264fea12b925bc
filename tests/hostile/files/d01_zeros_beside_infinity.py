import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def fill(mask_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    mask = tl.load(mask_ptr + offsets, mask=inside, other=0)
    tl.store(y_ptr + offsets, tl.where(mask != 0, float("-inf"), 0.0), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x, mask):
        y = torch.empty_like(x)
        fill[(triton.cdiv(x.numel(), 1024),)](mask, y, x.numel(), BLOCK=1024)
        return y
