import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, length):
        return torch.relu(x) * (torch.arange(x.shape[0], device=x.device) < length)[:, None]


def get_inputs():
    return [torch.randn(24, 40), torch.randint(0, 25, (1,))]


def get_init_inputs():
    return []
