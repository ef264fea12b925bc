import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, decay):
        return decay @ x


def get_inputs():
    place = torch.arange(32)
    return [torch.randn(32, 16), torch.exp(-(place[:, None] - place).abs().float() / 8)]


def get_init_inputs():
    return []
