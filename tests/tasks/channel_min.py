import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.amin(x, dim=1)


def get_inputs():
    return [torch.randn(3, 12, 5, 7)]


def get_init_inputs():
    return []
