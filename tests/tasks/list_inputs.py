import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, xs):
        return xs[0] * xs[1]


def get_inputs():
    return [[torch.randn(10, 20), torch.randn(10, 20)]]


def get_init_inputs():
    return []
