import torch
import torch.nn as nn


class Model(nn.Module):
    """The mean share of each class, before samples are added up."""

    def forward(self, x):
        return torch.softmax(x, dim=-1) * (1 / 4096)


def get_inputs():
    return [torch.randn(300, 50)]


def get_init_inputs():
    return []
