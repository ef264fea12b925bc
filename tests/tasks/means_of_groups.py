import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, group):
        total = torch.zeros(7, device=x.device).index_add(0, group, x)
        return total / torch.bincount(group, minlength=7)


def get_inputs():
    return [torch.randn(40), torch.randint(0, 7, (40,))]


def get_init_inputs():
    return []
