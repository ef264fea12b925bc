import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, dtype=torch.float16)

    def forward(self, x):
        return self.linear(x)


def get_inputs():
    return [torch.randn(16, 16384, dtype=torch.float16)]


def get_init_inputs():
    return [16384, 32]
