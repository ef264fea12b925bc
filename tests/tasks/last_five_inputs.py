import torch
import torch.nn as nn


class Model(nn.Module):
    """The greatest of the last five inputs, which lie in a ring."""

    def __init__(self, width):
        super().__init__()
        self.register_buffer("ring", torch.zeros(5, width))
        self.register_buffer("slot", torch.zeros(1, dtype=torch.int64))

    def forward(self, x):
        self.ring.index_copy_(0, self.slot, x[None])
        self.slot.copy_((self.slot + 1) % 5)
        return self.ring.amax(0)


def get_inputs():
    return [torch.randn(1024)]


def get_init_inputs():
    return [1024]
