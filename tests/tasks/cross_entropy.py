import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, target):
        return F.cross_entropy(x, target)


def get_inputs():
    return [torch.randn(20, 50), torch.randint(0, 50, (20,))]


def get_init_inputs():
    return []
