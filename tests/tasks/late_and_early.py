import torch
import torch.nn as nn


class Model(nn.Module):
    """The order of arrivals in each column, told in half units."""

    def forward(self, arrivals):
        return (arrivals * 2.0).argsort(dim=0, stable=True)


def get_inputs():
    return [torch.rand(128, 8)]


def get_init_inputs():
    return []
