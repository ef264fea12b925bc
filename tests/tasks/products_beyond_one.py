import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return ((x * y) >= 1.0).to(torch.int32)


def get_inputs():
    return [torch.randn(15, 41), torch.randn(15, 41)]


def get_init_inputs():
    return []
