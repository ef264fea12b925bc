import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def larger_size(a, b):
    left = tl.abs(a)
    right = tl.abs(b)
    if left >= right:
        return left
    else:
        return right


@triton.jit
def largest_size(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + columns, mask=columns < n, other=0.0)
    tl.store(y_ptr + tl.program_id(0), tl.reduce(x, 0, larger_size))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device)
        largest_size[(x.shape[0],)](x, y, x.shape[1], BLOCK=128)
        return y
