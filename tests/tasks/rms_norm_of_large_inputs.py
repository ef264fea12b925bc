import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


def get_inputs():
    return [10 * torch.randn(24, 96)]


def get_init_inputs():
    return []
