import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, inner, outer, size):
        super().__init__()
        self.conv = nn.Conv1d(inner, outer, size, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(2, 4, 50)]


def get_init_inputs():
    return [4, 6, 5]
