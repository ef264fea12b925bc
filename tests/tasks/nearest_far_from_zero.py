import torch
import torch.nn as nn


class Model(nn.Module):
    """The nearest centre of each point, by the squares of a sum."""

    def __init__(self):
        super().__init__()
        self.centres = nn.Parameter(torch.randn(32, 16))

    def forward(self, x):
        c = self.centres
        squares = (x * x).sum(-1, keepdim=True) - 2 * x @ c.t() + (c * c).sum(-1)
        return squares.argmin(-1)


def get_inputs():
    return [torch.randn(256, 16)]


def get_init_inputs():
    return []
