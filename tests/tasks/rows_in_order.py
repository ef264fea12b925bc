import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, order):
        return x.index_select(0, order) * 2 + 1


def get_inputs():
    return [torch.randn(48, 20), torch.arange(47, -1, -1)]


def get_init_inputs():
    return []
