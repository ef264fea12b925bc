import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, starts, ends):
        row = torch.arange(x.shape[0], device=x.device)
        within = ((row >= starts[:, None]) & (row < ends[:, None])).to(x.dtype)
        return (within @ x) / within.sum(1, keepdim=True)


def get_inputs():
    return [torch.randn(90, 16), torch.arange(0, 64, 16), torch.arange(16, 80, 16)]


def get_init_inputs():
    return []
