import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, scores, apart):
        return torch.softmax(scores - 0.1 * apart.abs(), dim=-1)


def get_inputs():
    place = torch.arange(32)
    return [torch.randn(3, 32, 32), place[:, None] - place]


def get_init_inputs():
    return []
