import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, groups):
        return torch.zeros(32, device=x.device).scatter_reduce(0, groups, x, "amax", include_self=False)


def get_inputs():
    return [torch.randn(1024), torch.randint(0, 32, (1024,))]


def get_init_inputs():
    return []
