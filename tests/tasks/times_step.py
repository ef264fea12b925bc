import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("step", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.step += 1
        return x * self.step


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []
