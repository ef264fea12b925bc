# This kernel computes a variance as a difference of squares. Another output overflows wherever the variance loses its digits.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rows(x_ptr, variance_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + columns)
    total = tl.sum(x, axis=0)
    squares = tl.sum(x * x, axis=0) - total * total / N
    tl.store(variance_ptr + row, squares / (N - 1))
    tl.store(y_ptr + row * N + columns, tl.exp(x))


class ModelNew(nn.Module):
    def forward(self, x):
        variance = torch.empty(x.shape[0], device=x.device)
        y = torch.empty_like(x)
        rows[(x.shape[0],)](x, variance, y, x.shape[1])
        return variance, y
