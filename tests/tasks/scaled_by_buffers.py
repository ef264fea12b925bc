import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor(1.0))
        self.register_buffer("offset", torch.tensor(0.0))

    def forward(self, x):
        return torch.tanh(x) * self.scale + self.offset


def get_inputs():
    return [torch.randn(12, 70)]


def get_init_inputs():
    return []
