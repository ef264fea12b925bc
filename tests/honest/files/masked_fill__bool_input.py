import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def fill(x_ptr, mask_ptr, y_ptr, n, value, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    m = tl.load(mask_ptr + offsets, mask=inside, other=0)
    tl.store(y_ptr + offsets, tl.where(m != 0, value, x), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x, mask):
        y = torch.empty_like(x)
        fill[(triton.cdiv(x.numel(), 256),)](x, mask, y, x.numel(), -1.0, BLOCK=256)
        return y
