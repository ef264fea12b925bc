import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        scale = x.abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
        return torch.clamp(torch.round(x / scale), -128, 127).to(torch.int8), scale


def get_inputs():
    return [torch.randn(9, 77)]


def get_init_inputs():
    return []
