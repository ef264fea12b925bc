import torch
import torch.nn as nn


class Model(nn.Module):
    """Means of packed sequences, the last rows of x being padding."""

    def __init__(self, longest):
        super().__init__()
        self.longest = longest

    def forward(self, x, ends):
        row = torch.arange(x.shape[0], device=x.device)
        within = ((row >= ends[:-1, None]) & (row < ends[1:, None])).to(x.dtype)
        return (within @ x) / within.sum(1, keepdim=True)


def get_inputs():
    return [torch.randn(72, 16), torch.tensor([0, 16, 32, 48, 64])]


def get_init_inputs():
    return [16]
