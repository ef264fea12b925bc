import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(32, 512).half(), torch.randn(512, 32).half()]


def get_init_inputs():
    return []
