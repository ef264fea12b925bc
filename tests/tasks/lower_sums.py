import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, m):
        return (x[:, None, :] * m).sum(dim=2)


def get_inputs():
    return [torch.randn(8, 32), torch.tril(torch.ones(32, 32))]


def get_init_inputs():
    return []
