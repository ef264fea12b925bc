import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.factor = nn.Parameter(torch.full((features,), 1e5))

    def forward(self, x):
        return torch.tanh(x) * self.factor


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return [64]
