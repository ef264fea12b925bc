import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)
        self.scale = nn.Parameter(torch.ones(features))
        self.shift = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        return self.norm(x) * self.scale + self.shift


def get_inputs():
    return [torch.randn(32, 96)]


def get_init_inputs():
    return [96]
