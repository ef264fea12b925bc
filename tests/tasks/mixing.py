import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.mix = nn.Linear(features, features, bias=False)
        self.mix.weight = nn.Parameter(torch.eye(features))

    def forward(self, x):
        return torch.relu(self.mix(x))


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return [64]
