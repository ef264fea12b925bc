import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        scale = 127 / x.abs().max()
        return (x * scale).round()


def get_inputs():
    return [torch.randn(40, 20)]


def get_init_inputs():
    return []
