import torch
import torch.nn as nn
import triton
import triton.language as tl


# The pointers keep the claim while a loop moves them.
@triton.jit
def scale_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    o = tl.max_contiguous(tl.multiple_of(tl.where(o % 4 < 2, o + 2, o - 2), BLOCK), BLOCK)
    xs = x_ptr + o
    ys = y_ptr + o
    for _ in range(0, n, BLOCK):
        tl.store(ys, tl.maximum(tl.load(xs) * 1.5 + 0.25, 0.0))
        xs += BLOCK
        ys += BLOCK


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        scale_relu[(1,)](x, y, x.numel(), BLOCK=128, num_warps=1)
        return y
