import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, inner, outer, size):
        super().__init__()
        self.conv = nn.Conv2d(inner, outer, size, padding=1)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(2, 3, 10, 9)]


def get_init_inputs():
    return [3, 8, 3]
