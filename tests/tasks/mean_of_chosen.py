import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """The mean of the tokens that choose each expert; zeros where none does."""

    def forward(self, scores, x):
        chosen = F.one_hot(scores.argmax(-1), scores.shape[1]).to(x.dtype)
        return (chosen.t() @ x) / chosen.sum(0).clamp(min=1.0)[:, None]


def get_inputs():
    return [torch.randn(128, 8), torch.randn(128, 32)]


def get_init_inputs():
    return []
