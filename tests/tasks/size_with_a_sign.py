import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return torch.copysign(x + 1.0, -y)


def get_inputs():
    return [torch.randn(24, 100), torch.randn(24, 100)]


def get_init_inputs():
    return []
