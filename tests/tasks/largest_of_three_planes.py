import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.abs().amax(dim=(1, 2))


def get_inputs():
    return [torch.randn(3, 2, 150)]


def get_init_inputs():
    return []
