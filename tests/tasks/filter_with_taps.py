import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, taps):
        return taps[0] * x[:, :-2] + taps[1] * x[:, 1:-1] + taps[2] * x[:, 2:]


def get_inputs():
    return [torch.randn(16, 66), torch.tensor([0.25, 0.5, 0.25])]


def get_init_inputs():
    return []
