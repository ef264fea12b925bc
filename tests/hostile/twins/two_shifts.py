import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, a_ptr, b_ptr, c_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + i) * tl.load(a_ptr + i) + tl.load(b_ptr + i)
    tl.store(y_ptr + row * N + i, tl.maximum(x, 0.0) * tl.load(c_ptr + i))


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a = nn.Parameter(torch.ones(width))
        self.b = nn.Parameter(torch.zeros(width))
        self.c = nn.Parameter(torch.ones(width))

    def forward(self, x):
        y = torch.empty_like(x)
        scale[(x.shape[0],)](x, self.a, self.b, self.c, y, x.shape[1])
        return y
