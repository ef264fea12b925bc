import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return (x * y).float()


def get_inputs():
    return [torch.randn(16, 64).bfloat16(), torch.randn(16, 64).bfloat16()]


def get_init_inputs():
    return []
