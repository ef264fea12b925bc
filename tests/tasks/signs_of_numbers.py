import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.sign(x) * 3


def get_inputs():
    return [torch.randn(9, 80)]


def get_init_inputs():
    return []
