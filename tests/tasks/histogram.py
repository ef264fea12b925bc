import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return (x[:, None] == torch.arange(16, device=x.device)).sum(dim=0).float()


def get_inputs():
    return [torch.randint(0, 16, (500,))]


def get_init_inputs():
    return []
