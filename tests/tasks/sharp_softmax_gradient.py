import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, dy):
        y = torch.softmax(x * 8.0, -1)
        return y, y * (dy - (y * dy).sum(-1, keepdim=True)) * 8.0


def get_inputs():
    return [torch.randn(12, 128), torch.randn(12, 128)]


def get_init_inputs():
    return []
