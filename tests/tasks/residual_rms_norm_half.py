import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features, dtype=torch.float16))

    def forward(self, x, residual):
        x = x + residual
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * y.to(x.dtype), x


def get_inputs():
    return [torch.randn(14, 96, dtype=torch.float16), torch.randn(14, 96, dtype=torch.float16)]


def get_init_inputs():
    return [96]
