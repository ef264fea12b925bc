import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        limits = torch.finfo(x.dtype)
        return torch.clamp(x, limits.min, limits.max) * 0.25


def get_inputs():
    return [torch.randn(25, 60)]


def get_init_inputs():
    return []
