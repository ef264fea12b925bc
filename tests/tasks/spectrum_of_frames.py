import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        angles = torch.outer(torch.arange(48) + 0.5, torch.arange(32) * (3.141592653589793 / 48))
        self.register_buffer("basis", torch.cos(angles))
        self.gain = nn.Parameter(torch.tensor(0.3))

    def forward(self, frames):
        return torch.relu(frames @ (self.basis * self.gain))


def get_inputs():
    return [torch.randn(24, 48)]


def get_init_inputs():
    return []
