import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.float().sum(dim=1)


def get_inputs():
    return [torch.randn(16, 1000).half()]


def get_init_inputs():
    return []
