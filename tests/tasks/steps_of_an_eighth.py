import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.round(x * 8) / 8


def get_inputs():
    return [torch.randn(64, 50)]


def get_init_inputs():
    return []
