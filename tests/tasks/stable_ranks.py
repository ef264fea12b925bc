import torch
import torch.nn as nn


class Model(nn.Module):
    """The positions of each row's numbers, from the largest to the smallest. Equal numbers keep their order."""

    def forward(self, scores):
        return torch.argsort(scores, dim=-1, descending=True, stable=True)


def get_inputs():
    return [torch.randn(24, 64)]


def get_init_inputs():
    return []
