import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, offsets):
        totals = torch.cat([torch.zeros_like(x[:1]), x.cumsum(0)])
        return totals[offsets[1:]] - totals[offsets[:-1]]


def get_inputs():
    return [torch.randn(64, 8, dtype=torch.float64), torch.tensor([0, 7, 20, 64])]


def get_init_inputs():
    return []
