import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.remainder(x * 3 + 7, 5)


def get_inputs():
    return [torch.randint(0, 1000, (24, 70))]


def get_init_inputs():
    return []
