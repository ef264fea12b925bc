import torch
import torch.nn as nn


class Model(nn.Module):
    """The least and the largest of each column, as the first eight calls saw them."""

    def __init__(self):
        super().__init__()
        self.register_buffer("low", torch.zeros(128))
        self.register_buffer("high", torch.zeros(128))
        self.register_buffer("seen", torch.zeros((), dtype=torch.int32))

    def forward(self, x):
        learns = self.seen < 8
        self.seen += 1
        self.low.copy_(torch.where(learns, torch.minimum(self.low, x.amin(0)), self.low))
        self.high.copy_(torch.where(learns, torch.maximum(self.high, x.amax(0)), self.high))
        return (x - self.low) / (self.high - self.low + 1)


def get_inputs():
    return [torch.randn(64, 128)]


def get_init_inputs():
    return []
