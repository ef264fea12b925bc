import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def running_sum(y_ptr, out_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    y = tl.load(y_ptr + row * N + i)
    tl.store(out_ptr + row * N + i, y - tl.sum(y, axis=0) / N + tl.cumsum(y, axis=0))


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        y = self.linear(x)
        out = torch.empty_like(y)
        running_sum[(x.shape[0],)](y, out, y.shape[1])
        return out
