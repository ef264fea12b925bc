import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, group):
        return torch.zeros(9, device=x.device).index_add(0, group, x)


def get_inputs():
    return [torch.randn(45), torch.arange(9).repeat_interleave(5)]


def get_init_inputs():
    return []
