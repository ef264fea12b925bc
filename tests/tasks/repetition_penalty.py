import torch
import torch.nn as nn


class Model(nn.Module):
    """Penalties that no one trains, all above 1."""

    def __init__(self):
        super().__init__()
        self.register_buffer("penalty", torch.rand(24) + 1)

    def forward(self, logits, is_repeated):
        factor = self.penalty[:, None]
        changed = torch.where(logits > 0, logits / factor, logits * factor)
        return torch.where(is_repeated, changed, logits)


def get_inputs():
    return [torch.randn(24, 300), torch.rand(24, 300) > 0.7]


def get_init_inputs():
    return []
