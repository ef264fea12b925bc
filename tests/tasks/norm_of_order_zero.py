import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.linalg.vector_norm(x, 0, dim=1)


def get_inputs():
    return [torch.randn(10, 77)]


def get_init_inputs():
    return []
