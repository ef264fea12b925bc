import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("rates", 10000.0 ** (-torch.arange(0, width, 2) / width))

    def forward(self, x, positions):
        angles = positions[:, :, None].float() * self.rates
        first, second = x.chunk(2, dim=-1)
        return torch.cat([first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], dim=-1)


def get_inputs():
    return [torch.randn(3, 16, 32), torch.arange(16).repeat(3, 1)]


def get_init_inputs():
    return [32]
