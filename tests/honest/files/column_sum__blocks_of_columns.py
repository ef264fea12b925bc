import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def column_sum(x_ptr, y_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    c = tl.program_id(0) * C + tl.arange(0, C)
    sums = tl.zeros((R, C), dtype=tl.float32)
    for start in range(0, rows, R):
        r = start + tl.arange(0, R)
        sums += tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < columns), other=0.0)
    tl.store(y_ptr + c, tl.sum(sums, axis=0), mask=c < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[1], device=x.device, dtype=x.dtype)
        column_sum[(triton.cdiv(x.shape[1], 32),)](x, y, x.shape[0], x.shape[1], R=16, C=32)
        return y
