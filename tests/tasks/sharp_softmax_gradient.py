import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, dy):
        y = torch.softmax(x * 0.5, -1)
        return y, y * (dy - (y * dy).sum(-1, keepdim=True)) * 0.5


def get_inputs():
    return [torch.randn(12, 128), torch.randn(12, 128)]


def get_init_inputs():
    return []
