import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """The cosine between two tensors, over all their elements."""

    def forward(self, a, b):
        return F.cosine_similarity(a.flatten(), b.flatten(), dim=0, eps=1e-6)


def get_inputs():
    return [torch.randn(12, 210), torch.randn(12, 210)]


def get_init_inputs():
    return []
