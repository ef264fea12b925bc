import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, ends):
        ends = ends.tolist()
        return torch.stack([x[first:last].mean(dim=0) for first, last in zip(ends, ends[1:])])


def get_inputs():
    return [torch.randn(64, 48), torch.tensor([0, 20, 50, 64])]


def get_init_inputs():
    return []
