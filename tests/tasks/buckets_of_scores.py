import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, edges, x):
        return torch.bucketize(x, edges, right=True)


def get_inputs():
    return [torch.sort(torch.rand(9)).values, torch.rand(40, 11) * 1.5]


def get_init_inputs():
    return []
