import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i * N + row)
    tl.store(y_ptr + row * N + i, x)
    tl.store(y_ptr + (N + row) * N + i, x)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(2 * x.shape[0], x.shape[1], device=x.device, dtype=x.dtype)
        kernel[(x.shape[0],)](x, y, x.shape[1])
        return y
