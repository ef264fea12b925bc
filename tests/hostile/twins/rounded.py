import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = row * N + tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.floor(x + 0.5)
    is_tie = (x + 0.5) == y
    y = tl.where(is_tie, 2 * tl.floor(y * 0.5), y)
    tl.store(y_ptr + i, y)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(x.shape[0],)](x, y, x.shape[1])
        return y
