import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_loss(x_ptr, target_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=-float("inf"))
    target = tl.load(target_ptr + row)
    top = tl.max(x, axis=0)
    right = tl.load(x_ptr + row * n + target)
    tl.store(y_ptr + row, tl.log(tl.sum(tl.exp(x - top), axis=0)) + top - right)


@triton.jit
def mean(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr, tl.sum(tl.load(x_ptr + offsets, mask=offsets < n, other=0.0), axis=0) / n)


class ModelNew(nn.Module):
    def forward(self, x, target):
        rows = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        row_loss[(x.shape[0],)](x, target, rows, x.shape[1], BLOCK=64)
        y = torch.empty((), device=x.device, dtype=x.dtype)
        mean[(1,)](rows, y, x.shape[0], BLOCK=32)
        return y
