import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def moments(x_ptr, variance_ptr, mean_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centered = tl.where(columns < n, x - mean, 0.0)
    tl.store(mean_ptr + row, mean)
    tl.store(variance_ptr + row, tl.sum(centered * centered, axis=0) / (n - 1))


class ModelNew(nn.Module):
    def forward(self, x):
        variance, mean = torch.empty(x.shape[0], device=x.device), torch.empty(x.shape[0], device=x.device)
        moments[(x.shape[0],)](x, variance, mean, x.shape[1], BLOCK=128)
        return variance, mean
