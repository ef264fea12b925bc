import torch
import torch.nn as nn


class Model(nn.Module):
    """The eight keys of each query with the largest scores, of which many are 0."""

    def forward(self, scores):
        return torch.topk(torch.relu(scores), 8, dim=1).indices


def get_inputs():
    return [torch.randn(24, 20) - 1.0]


def get_init_inputs():
    return []
