import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """The logarithm of a decay, as gated linear attention takes it from its gates."""

    def forward(self, gate, bias):
        return -F.softplus(gate + bias)


def get_inputs():
    return [torch.randn(32, 128), torch.randn(128)]


def get_init_inputs():
    return []
