import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.nan_to_num(x, nan=0.5, posinf=9.0, neginf=-9.0)


def get_inputs():
    return [torch.randn(24, 70)]


def get_init_inputs():
    return []
