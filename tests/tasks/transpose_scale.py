import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return (x.transpose(0, 1) * 2.0).contiguous()


def get_inputs():
    return [torch.randn(50, 30)]


def get_init_inputs():
    return []
