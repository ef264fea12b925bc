import torch
import torch.nn as nn


class Model(nn.Module):
    """The order of gates, of which many are 0 or 1."""

    def forward(self, x):
        return torch.argsort(torch.sigmoid(x * 60.0), dim=-1, descending=True)


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
