import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        last_bits = (x.view(torch.int32) & 1) + 1
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * last_bits.float()


def get_inputs():
    return [torch.randn(9, 77)]


def get_init_inputs():
    return []
