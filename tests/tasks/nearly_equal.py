import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return torch.isclose(x, y, rtol=0.1, atol=0.02, equal_nan=True)


def get_inputs():
    return [torch.randn(32, 80), torch.randn(32, 80)]


def get_init_inputs():
    return []
