import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("codes", torch.randint(-8, 8, (64, 48)).float())
        self.register_buffer("scale", torch.tensor(0.05))

    def forward(self, x):
        return torch.relu(x @ (self.codes * self.scale).t())


def get_inputs():
    return [torch.randn(24, 48)]


def get_init_inputs():
    return []
