import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, edges):
        b = torch.bucketize(x, edges)
        return torch.logcumsumexp(x, -1), torch.nn.functional.one_hot(b, 9).sum(1)


def get_inputs():
    return [torch.randn(16, 64), torch.linspace(-2, 2, 8)]


def get_init_inputs():
    return []
