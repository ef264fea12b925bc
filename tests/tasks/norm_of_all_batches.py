import torch
import torch.nn as nn


class Model(nn.Module):
    """The running statistics are means over all calls."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(64, momentum=None)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []
