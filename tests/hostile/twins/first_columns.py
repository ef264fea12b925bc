import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    at = tl.program_id(0) * N + i
    x = tl.maximum(tl.load(x_ptr + at), 0.0)
    x = tl.where(i < 32, x, 0.0)
    tl.store(y_ptr + at, x)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(x.shape[0],)](x, y, x.shape[1])
        return y
