import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.amax(torch.abs(x), dim=1)


def get_inputs():
    return [torch.randn(24, 70)]


def get_init_inputs():
    return []
