import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def variance(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centered = tl.where(columns < n, x - mean, 0.0)
    tl.store(y_ptr + row, tl.sum(x * x, axis=0) / n - mean * mean)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        variance[(x.shape[0],)](x, y, x.shape[1], BLOCK=256)
        return y
