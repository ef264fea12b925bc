import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def group_norm(x_ptr, w_ptr, b_ptr, y_ptr, groups, per_group, area, eps, BLOCK: tl.constexpr):
    place = tl.program_id(0)
    n = per_group * area
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + place * n + offsets, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centered = tl.where(mask, x - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centered * centered, axis=0) / n + eps)
    channel = (place % groups) * per_group + offsets // area
    y = centered * scale * tl.load(w_ptr + channel, mask=mask) + tl.load(b_ptr + channel, mask=mask)
    tl.store(y_ptr + place * n + offsets, y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)

    def forward(self, x):
        y = torch.empty_like(x)
        area = x.shape[2] * x.shape[3]
        per_group = x.shape[1] // self.norm.num_groups
        group_norm[(x.shape[0] * self.norm.num_groups,)](x, self.norm.weight, self.norm.bias, y, self.norm.num_groups, per_group, area, self.norm.eps, BLOCK=triton.next_power_of_2(per_group * area))
        return y
