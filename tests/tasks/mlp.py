import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.first = nn.Linear(features, hidden)
        self.second = nn.Linear(hidden, features)

    def forward(self, x):
        return self.second(F.gelu(self.first(x)))


def get_inputs():
    return [torch.randn(24, 32)]


def get_init_inputs():
    return [32, 64]
