import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return (x & 255) ^ (x >> 3)


def get_inputs():
    return [torch.randint(0, 100000, (24, 70), dtype=torch.int32)]


def get_init_inputs():
    return []
