import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, p, y):
        return F.binary_cross_entropy(p, y, reduction="none").mean(dim=1)


def get_inputs():
    return [torch.rand(24, 70), (torch.rand(24, 70) > 0.5).float()]


def get_init_inputs():
    return []
