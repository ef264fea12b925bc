import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1 = nn.LayerNorm(16)
        self.ln2 = nn.LayerNorm(16)

    def forward(self, x):
        x = self.ln2(torch.tanh(self.ln1(x)))
        return torch.relu(x)


def get_inputs():
    return [torch.randn(8, 16)]


def get_init_inputs():
    return []
