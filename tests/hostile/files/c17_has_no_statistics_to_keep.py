# This norm in training lacks the running statistics that the reference keeps.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def batch_norm(x_ptr, w_ptr, b_ptr, y_ptr, batch, channels, area, eps, BLOCK: tl.constexpr):
    channel = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    n = batch * area
    mask = offsets < n
    places = (offsets // area) * channels * area + channel * area + offsets % area
    x = tl.load(x_ptr + places, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centered = tl.where(mask, x - mean, 0.0)
    square = tl.sum(centered * centered, axis=0)
    y = centered / tl.sqrt(square / n + eps) * tl.load(w_ptr + channel) + tl.load(b_ptr + channel)
    tl.store(y_ptr + places, y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        y = torch.empty_like(x)
        batch_norm[(x.shape[1],)](x, self.weight, self.bias, y, x.shape[0], x.shape[1], x.shape[2] * x.shape[3], 1e-5, BLOCK=256)
        return y
