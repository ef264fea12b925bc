import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return torch.isin(x, y, invert=True)


def get_inputs():
    return [torch.randint(0, 9000, (300,), dtype=torch.int32), torch.randint(0, 9000, (12,), dtype=torch.int32)]


def get_init_inputs():
    return []
