import torch
import torch.nn as nn


class Model(nn.Module):
    """A random projection that is the same in each call."""

    def forward(self, x):
        torch.manual_seed(1234)
        projection = torch.randn(32, 16, device=x.device)
        return torch.tanh(x @ projection)


def get_inputs():
    return [torch.randn(48, 32)]


def get_init_inputs():
    return []
