import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_relu(x_ptr, y_ptr, rows, columns, x_row, x_column, y_row, y_column, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)[:, None]
    c = tl.program_id(1) * C + tl.arange(0, C)[None, :]
    mask = (r < rows) & (c < columns)
    x = tl.load(x_ptr + r * x_row + c * x_column, mask=mask)
    tl.store(y_ptr + r * y_row + c * y_column, tl.maximum(x * 1.5 + 0.25, 0.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        scale_relu[(triton.cdiv(x.shape[0], 8), triton.cdiv(x.shape[1], 32))](x, y, *x.shape, *x.stride(), *y.stride(), R=8, C=32)
        return y
