import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.full((1,), 0.25, dtype=torch.bfloat16))

    def forward(self, x):
        return torch.nn.functional.prelu(x, self.slope)


def get_inputs():
    return [torch.randn(32, 64, dtype=torch.bfloat16)]


def get_init_inputs():
    return []
