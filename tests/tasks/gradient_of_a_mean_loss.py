import torch
import torch.nn as nn


class Model(nn.Module):
    """The gradient of a mean log-cosh loss."""

    def forward(self, x, y):
        return torch.tanh(x - y) / x.numel()


def get_inputs():
    return [torch.randn(64, 200), torch.randn(64, 200)]


def get_init_inputs():
    return []
