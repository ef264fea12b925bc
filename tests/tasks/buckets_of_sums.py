import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("edges", torch.tensor([-40000.0, -3.0, 3.0, 40000.0]))

    def forward(self, x):
        return torch.bucketize(x.sum(1), self.edges)


def get_inputs():
    return [torch.randn(300, 48)]


def get_init_inputs():
    return []
