import torch
import torch.nn as nn


class Model(nn.Module):
    """Decays between 0.5 and 1, as a table that no one trains."""

    def __init__(self):
        super().__init__()
        self.register_buffer("decay", torch.rand(12) * 0.5 + 0.5)

    def forward(self, x):
        steps = torch.arange(x.shape[-1], device=x.device)
        return x * self.decay[:, None] ** (steps % 16)


def get_inputs():
    return [torch.randn(12, 96)]


def get_init_inputs():
    return []
