import torch
import torch.nn as nn


class Model(nn.Module):
    """Every third call a slow copy takes half of the way to the sum of all inputs."""

    def __init__(self):
        super().__init__()
        self.register_buffer("sum", torch.zeros(2048))
        self.register_buffer("slow", torch.zeros(2048))
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int32))

    def forward(self, x):
        self.sum += x
        self.calls.add_(1)
        follows = (self.calls % 3 == 0).float()
        self.slow += 0.5 * follows * (self.sum - self.slow)
        return self.sum - self.slow


def get_inputs():
    return [torch.randn(2048)]


def get_init_inputs():
    return []
