import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, keys, slots, cache):
        cache[slots] = keys * 0.5


def get_inputs():
    return [torch.randn(24, 4, 32), torch.randperm(64)[:24], torch.randn(64, 4, 32)]


def get_init_inputs():
    return []
