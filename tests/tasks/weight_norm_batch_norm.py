import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.utils.weight_norm(nn.Conv1d(c, c, 3, padding=1))
        self.bn = nn.BatchNorm1d(c)
        self.alpha = nn.Parameter(torch.full((c,), 0.25))

    def forward(self, x):
        return torch.nn.functional.prelu(self.bn(self.conv(x)), self.alpha)


def get_inputs():
    return [torch.rand(4, 16, 32)]


def get_init_inputs():
    return [16]
