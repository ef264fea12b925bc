import torch
import torch.nn as nn


class Model(nn.Module):
    """Gives numbers from millionths to millions."""

    def forward(self, x):
        return torch.exp(3.0 * x)


def get_inputs():
    return [torch.randn(64, 1024)]


def get_init_inputs():
    return []
