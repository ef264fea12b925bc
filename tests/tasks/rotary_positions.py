import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, positions, frequencies):
        half = x.shape[-1] // 2
        angles = positions[:, None].float() * frequencies[None, :]
        cos, sin = angles.cos(), angles.sin()
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def get_inputs():
    return [torch.randn(4, 24, 16), torch.arange(24), torch.rand(8)]


def get_init_inputs():
    return []
