import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("codes", torch.randint(-100, 100, (24, 40), dtype=torch.int8))
        self.register_buffer("scale", torch.tensor(0.02))

    def forward(self, x):
        return x @ (self.codes.float() * self.scale).t()


def get_inputs():
    return [torch.randn(9, 40)]


def get_init_inputs():
    return []
