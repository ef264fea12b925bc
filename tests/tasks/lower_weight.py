import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.w = nn.Parameter(torch.tril(torch.randn(size, size)))

    def forward(self, x):
        return x @ self.w.t()


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return [32]
