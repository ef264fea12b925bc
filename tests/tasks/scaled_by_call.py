import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * (1.0 + 1.0 / self.calls)


def get_inputs():
    return [torch.randn(24, 70)]


def get_init_inputs():
    return []
