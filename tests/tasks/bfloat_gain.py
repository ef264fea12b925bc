import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gain = nn.Parameter(torch.randn(size).bfloat16())

    def forward(self, x):
        return x * self.gain.float()


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return [64]
