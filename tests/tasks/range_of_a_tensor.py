import torch
import torch.nn as nn


class Model(nn.Module):
    """Elements between 0 and 1, by the least and the largest of all."""

    def forward(self, x):
        low, high = x.min(), x.max()
        return (x - low) / (high - low + 1e-7)


def get_inputs():
    return [torch.randn(24, 140)]


def get_init_inputs():
    return []
