import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def batch_norm(x_ptr, w_ptr, b_ptr, mean_ptr, variance_ptr, y_ptr, batch, channels, area, eps, momentum, BLOCK: tl.constexpr):
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
    tl.store(mean_ptr + channel, (1 - momentum) * tl.load(mean_ptr + channel) + momentum * mean)
    tl.store(variance_ptr + channel, (1 - momentum) * tl.load(variance_ptr + channel) + momentum * square / (n - 1))


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = torch.empty_like(x)
        norm, area = self.norm, x.shape[2] * x.shape[3]
        batch_norm[(x.shape[1],)](x, norm.weight, norm.bias, norm.running_mean, norm.running_var, y, x.shape[0], x.shape[1], area, norm.eps, norm.momentum, BLOCK=256)
        return y
