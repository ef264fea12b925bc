import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        kept = (x - x) == 0
        return torch.where(kept, x, 0.0).sum(1) / kept.sum(1)


def get_inputs():
    return [torch.randn(40, 90)]


def get_init_inputs():
    return []
