import torch
import torch.nn as nn


class Model(nn.Module):
    """The density of points under a normal distribution of eight dimensions."""

    def forward(self, x):
        return 6.4e-4 * torch.exp(-0.5 * (x * x).sum(-1))


def get_inputs():
    return [torch.randn(2000, 8)]


def get_init_inputs():
    return []
