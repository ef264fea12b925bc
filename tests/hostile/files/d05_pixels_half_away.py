import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def sample(x_ptr, grid_ptr, y_ptr, channels, height, width, points):
    batch, channel, point = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    place = grid_ptr + (batch * points + point) * 2
    column = (tl.load(place) + 1) / 2 * (width - 1)
    row = (tl.load(place + 1) + 1) / 2 * (height - 1)
    column = libdevice.round(tl.minimum(tl.maximum(column, 0.0), width - 1.0)).to(tl.int32)
    row = libdevice.round(tl.minimum(tl.maximum(row, 0.0), height - 1.0)).to(tl.int32)
    plane = batch * channels + channel
    tl.store(y_ptr + plane * points + point, tl.load(x_ptr + (plane * height + row) * width + column))


class ModelNew(nn.Module):
    def forward(self, x, grid):
        batch, channels, height, width = x.shape
        points = grid.shape[1] * grid.shape[2]
        y = torch.empty(batch, channels, grid.shape[1], grid.shape[2], device=x.device)
        sample[(batch, channels, points)](x, grid, y, channels, height, width, points)
        return y
