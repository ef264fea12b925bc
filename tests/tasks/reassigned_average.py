import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("average", torch.zeros(32))

    def forward(self, x):
        self.average = 0.9 * self.average + 0.1 * x.mean(0)
        return x - self.average


def get_inputs():
    return [torch.randn(24, 32)]


def get_init_inputs():
    return []
