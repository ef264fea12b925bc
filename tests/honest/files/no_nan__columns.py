import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def replace(x_ptr, y_ptr, n, columns, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < n, other=0.0)
    y = tl.where(x == float("inf"), 9.0, tl.where(x == float("-inf"), -9.0, tl.where(x != x, 0.5, x)))
    tl.store(y_ptr + places, y, mask=places < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        replace[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), x.shape[1], BLOCK=256)
        return y
