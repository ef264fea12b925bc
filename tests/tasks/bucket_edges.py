import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.edges = nn.Parameter(torch.linspace(-2, 2, 9), requires_grad=False)

    def forward(self, x):
        return torch.relu(torch.bucketize(x, self.edges).float() - 3)


def get_inputs():
    return [torch.randn(8, 16)]


def get_init_inputs():
    return []
