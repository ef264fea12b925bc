import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, g):
        c = torch.cumsum(g, dim=1)
        return torch.exp(c) * torch.cumsum(torch.exp(-c) * x, dim=1)


def get_inputs():
    g = torch.nn.functional.logsigmoid(torch.randn(8, 32)) * 0.2
    return [torch.randn(8, 32), g]


def get_init_inputs():
    return []
