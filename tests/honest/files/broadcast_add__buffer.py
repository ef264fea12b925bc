import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, bias_ptr, y_ptr, n, channels, area, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    bias = tl.load(bias_ptr + offsets // area % channels, mask=mask)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + bias * scale, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.register_buffer('bias', torch.randn(channels))

    def forward(self, x, scale):
        y = torch.empty_like(x)
        add[(triton.cdiv(x.numel(), 128),)](x, self.bias, y, x.numel(), x.shape[1], x.shape[2], scale, BLOCK=128)
        return y
