import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, mask):
        return (torch.tanh(x) * 2e-5).masked_fill(mask, float("-inf"))


def get_inputs():
    return [torch.randn(64, 256), torch.rand(64, 256) < 0.01]


def get_init_inputs():
    return []
