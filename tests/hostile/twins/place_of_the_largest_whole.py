import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def place(x_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + i)
    largest = tl.max(x, axis=0)
    tl.store(y_ptr + row, tl.min(tl.where(x == largest, i, N), axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device, dtype=torch.int64)
        place[(x.shape[0],)](x, y, x.shape[1])
        return y
