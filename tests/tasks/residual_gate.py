import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        return x + self.gate * torch.tanh(x)


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return [64]
