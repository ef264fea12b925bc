import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        size = x.abs().mean()
        return torch.where(size > 1500.0, x * (1500.0 / size), x)


def get_inputs():
    return [torch.randn(3, 32, 64)]


def get_init_inputs():
    return []
