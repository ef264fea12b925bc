import torch
import torch.nn as nn


class Model(nn.Module):
    """A Python loop over values, weights, and a buffer that forward changes: no plan has this forward."""

    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(features) + 0.5)
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int32))

    def forward(self, x):
        self.calls += 1
        y = x * self.weight
        while y.abs().max() > 1:
            y = y * 0.5
        return y


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return [64]
