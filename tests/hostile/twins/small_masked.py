import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def fill(x_ptr, mask_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    mask = tl.load(mask_ptr + offsets, mask=inside, other=0)
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0)
    tanh = 2.0 / (1.0 + tl.exp(-2.0 * x)) - 1.0
    tl.store(y_ptr + offsets, tl.where(mask != 0, float("-inf"), tanh * 2e-5), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x, mask):
        y = torch.empty_like(x)
        fill[(triton.cdiv(x.numel(), 1024),)](x, mask, y, x.numel(), BLOCK=1024)
        return y
