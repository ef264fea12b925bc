import torch
import torch.nn as nn


class Model(nn.Module):
    """A mean that decays, divided by the weight that it has after so many calls."""

    def __init__(self, width):
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls += 1
        self.mean.lerp_(x, 0.25)
        return self.mean / (1 - 0.75**self.calls)


def get_inputs():
    return [torch.randn(3000)]


def get_init_inputs():
    return [3000]
