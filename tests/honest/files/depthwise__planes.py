import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def depthwise(x_ptr, w_ptr, b_ptr, y_ptr, channels, height, width, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    channel = plane % channels
    offsets = tl.arange(0, BLOCK)
    out_width = width - 2
    mask = offsets < (height - 2) * out_width
    row, column = offsets // out_width, offsets % out_width
    sums = tl.zeros((BLOCK,), dtype=tl.float32) + tl.load(b_ptr + channel)
    for place in tl.static_range(9):
        w = tl.load(w_ptr + channel * 9 + place)
        sums += w * tl.load(x_ptr + plane * height * width + (row + place // 3) * width + column + place % 3, mask=mask, other=0.0)
    tl.store(y_ptr + plane * (height - 2) * out_width + offsets, sums, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, groups=channels)

    def forward(self, x):
        y = torch.empty((x.shape[0], x.shape[1], x.shape[2] - 2, x.shape[3] - 2), device=x.device, dtype=x.dtype)
        depthwise[(x.shape[0] * x.shape[1],)](x, self.conv.weight, self.conv.bias, y, x.shape[1], x.shape[2], x.shape[3], BLOCK=64)
        return y
