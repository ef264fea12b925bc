import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, cos, sin):
        half = x.shape[-1] // 2
        return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


def get_inputs():
    speeds = 1.0 / (100.0 ** (torch.arange(0, 16, 2).float() / 16))
    angles = torch.arange(24).float()[:, None] * speeds
    angles = torch.cat([angles, angles], -1)
    return [torch.randn(3, 24, 16), angles.cos(), angles.sin()]


def get_init_inputs():
    return []
