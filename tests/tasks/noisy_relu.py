import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        noise = torch.rand(48, 80, device=x.device)
        return torch.relu(x + noise)


def get_inputs():
    return [torch.randn(48, 80)]


def get_init_inputs():
    return []
