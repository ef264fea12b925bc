import torch
import torch.nn as nn


class Model(nn.Module):
    """Python reads a value: no plan has this forward."""

    def forward(self, x):
        largest = x.abs().max().item()
        return x / largest if largest > 0 else x


def get_inputs():
    return [torch.randn(48, 96)]


def get_init_inputs():
    return []
