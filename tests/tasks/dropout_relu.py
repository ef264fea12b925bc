import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        return torch.relu(self.dropout(x))


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return [0.5]
