import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm1d(channels).eval()
        self.pool = nn.MaxPool1d(4)

    def forward(self, x):
        return self.pool(self.norm(x))


def get_inputs():
    return [torch.randn(8, 16, 64)]


def get_init_inputs():
    return [16]
