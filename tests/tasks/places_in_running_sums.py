import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, edges, x):
        return torch.searchsorted(edges, x)


def get_inputs():
    return [torch.cumsum(torch.rand(17), 0), torch.rand(6, 50) * 9]


def get_init_inputs():
    return []
