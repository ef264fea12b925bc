import torch
import torch.nn as nn


class Model(nn.Module):
    """Scores against all keys that were kept, the newest among them."""

    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(16, 64))
        self.register_buffer("length", torch.zeros(1, dtype=torch.int64))

    def forward(self, query, key):
        self.keys.index_copy_(0, self.length, key)
        self.length += 1
        scores = self.keys @ query
        return torch.where(torch.arange(16, device=query.device) < self.length, scores, 0.0)


def get_inputs():
    return [torch.randn(64), torch.randn(1, 64)]


def get_init_inputs():
    return []
