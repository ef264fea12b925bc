import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rows(x_ptr, variance_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + columns)
    centered = x - tl.sum(x, axis=0) / N
    squares = tl.sum(centered * centered, axis=0)
    tl.store(variance_ptr + row, squares / (N - 1))
    tl.store(y_ptr + row * N + columns, tl.exp(x))


class ModelNew(nn.Module):
    def forward(self, x):
        variance = torch.empty(x.shape[0], device=x.device)
        y = torch.empty_like(x)
        rows[(x.shape[0],)](x, variance, y, x.shape[1])
        return variance, y
