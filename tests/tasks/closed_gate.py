import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.gate = nn.Parameter(torch.full((features,), -12.0))

    def forward(self, x):
        return x * 1.1 + torch.sigmoid(self.gate) * torch.tanh(x)


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return [64]
