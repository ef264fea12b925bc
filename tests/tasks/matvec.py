import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.mv(a, b)


def get_inputs():
    return [torch.randn(50, 130), torch.randn(130)]


def get_init_inputs():
    return []
