import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        y = self.linear(x)
        return y - y.mean(-1, keepdim=True) + y.cumsum(-1)


def get_inputs():
    return [torch.randn(24, 64)]


def get_init_inputs():
    return [64]
