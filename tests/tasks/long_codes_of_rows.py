import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        scale = x.abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
        codes = torch.clamp(torch.round(x / scale), -128, 127)
        return codes.to(torch.int8), codes * scale


def get_inputs():
    return [torch.randn(24, 2048)]


def get_init_inputs():
    return []
