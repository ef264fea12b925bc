import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return F.avg_pool1d(x, 4, 1)


def get_inputs():
    return [torch.randn(2, 6, 128)]


def get_init_inputs():
    return []
