# The bound itself is above in the task, and not here.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = row * N + tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, tl.where(x > 1.0, 1.0, 0.0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(x.shape[0],)](x, y, x.shape[1])
        return y
