import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        groups = x.view(-1, 32)
        scale = groups.abs().max(dim=-1, keepdim=True).values / 7
        return torch.round(groups / scale).to(torch.int8)


def get_inputs():
    return [torch.randn(6, 128)]


def get_init_inputs():
    return []
