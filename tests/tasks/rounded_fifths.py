import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.round(x / 5) * 5


def get_inputs():
    return [torch.randn(12, 44) * 9]


def get_init_inputs():
    return []
