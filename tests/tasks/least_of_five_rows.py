import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.amin(dim=-1)


def get_inputs():
    return [torch.randn(5, 300)]


def get_init_inputs():
    return []
