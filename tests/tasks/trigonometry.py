import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.sin(x) * torch.cos(2.0 * x)


def get_inputs():
    return [torch.randn(24, 70)]


def get_init_inputs():
    return []
