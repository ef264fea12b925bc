import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        least, largest = x.amin(1, keepdim=True), x.amax(1, keepdim=True)
        share = (x - least) / (largest - least).clamp(min=1e-6)
        return torch.floor(share * 96).clamp(max=95).to(torch.int32)


def get_inputs():
    return [torch.randn(24, 2048)]


def get_init_inputs():
    return []
