import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, ends):
        part = torch.searchsorted(ends, torch.arange(48, device=x.device), right=True) - 1
        return torch.zeros(8, device=x.device).index_add(0, part, x)


def get_inputs():
    return [torch.randn(48), torch.arange(0, 49, 6)]


def get_init_inputs():
    return []
