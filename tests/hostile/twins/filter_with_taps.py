import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def smooth(x_ptr, taps_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = x_ptr + row * (N + 2) + i
    y = tl.load(taps_ptr + 0) * tl.load(x) + tl.load(taps_ptr + 1) * tl.load(x + 1) + tl.load(taps_ptr + 2) * tl.load(x + 2)
    tl.store(y_ptr + row * N + i, y)


class ModelNew(nn.Module):
    def forward(self, x, taps):
        y = torch.empty(x.shape[0], x.shape[1] - 2, device=x.device)
        smooth[(x.shape[0],)](x, taps, y, y.shape[1])
        return y
