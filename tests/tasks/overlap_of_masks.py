import torch
import torch.nn as nn


class Model(nn.Module):
    """The Dice loss of probabilities and a mask."""

    def forward(self, p, m):
        both = (p * m).sum()
        return 1 - (2 * both + 1e-5) / (p.sum() + m.sum() + 1e-5)


def get_inputs():
    return [torch.rand(8, 300), (torch.rand(8, 300) > 0.5).float()]


def get_init_inputs():
    return []
