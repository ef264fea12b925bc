import torch
import torch.nn as nn


class Model(nn.Module):
    """Sorted keys and where each came from, as a routing of tokens to experts needs them."""

    def forward(self, keys):
        return torch.sort(keys, dim=1, stable=True)


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
