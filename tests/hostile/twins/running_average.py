import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def double_and_average(x_ptr, average_ptr, y_ptr, rows, features, ROWS: tl.constexpr):
    column = tl.program_id(0)
    at = tl.arange(0, ROWS)
    x = tl.load(x_ptr + at * features + column, mask=at < rows, other=0.0)
    tl.store(y_ptr + at * features + column, x * 2, mask=at < rows)
    tl.store(average_ptr + column, tl.load(average_ptr + column) * 0.9 + tl.sum(x, axis=0) / rows * 0.1)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.register_buffer("average", torch.zeros(features))

    def forward(self, x):
        y = torch.empty_like(x)
        double_and_average[(x.shape[1],)](x, self.average, y, x.shape[0], x.shape[1], ROWS=32)
        return y
