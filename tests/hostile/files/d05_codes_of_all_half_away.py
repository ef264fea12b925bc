import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quantise(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < n, other=0.0)
    scale = 127 / tl.max(tl.abs(x), axis=0)
    tl.store(y_ptr + places, libdevice.round(x * scale), mask=places < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        quantise[(1,)](x, y, x.numel(), BLOCK=1024)
        return y
