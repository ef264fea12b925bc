import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.float() * 0.5


def get_inputs():
    return [torch.randint(-100, 100, (24, 64), dtype=torch.int8)]


def get_init_inputs():
    return []
