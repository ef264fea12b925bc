import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def affine_twice(x_ptr, w_ptr, b_ptr, y_ptr, D: tl.constexpr):
    o = tl.arange(0, D)
    row = tl.program_id(0) * D
    h = tl.load(x_ptr + row + o) * tl.load(w_ptr + o) + tl.load(b_ptr + o)
    y = tl.maximum(h, 0.0) * tl.load(w_ptr + D + o) + tl.load(b_ptr + D + o)
    tl.store(y_ptr + row + o, y)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scales = nn.Parameter(torch.ones(2 * features))
        self.shifts = nn.Parameter(torch.zeros(2, features))

    def forward(self, x):
        y = torch.empty_like(x)
        affine_twice[(x.shape[0],)](x, self.scales, self.shifts, y, x.shape[1])
        return y
