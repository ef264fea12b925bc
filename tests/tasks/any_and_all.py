import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, held):
        return torch.any(held, dim=1), torch.all(held, dim=1)


def get_inputs():
    return [torch.rand(48, 70) > 0.5]


def get_init_inputs():
    return []
