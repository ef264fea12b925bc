import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(2000, 16))

    def forward(self, classes):
        return self.table[classes] * 2


def get_inputs():
    return [torch.randint(0, 2000, (48,))]


def get_init_inputs():
    return []
