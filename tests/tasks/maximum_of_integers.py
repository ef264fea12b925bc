import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.maximum(a, b), a > b


def get_inputs():
    return [torch.randint(-2**31, 2**31 - 1, (32, 64), dtype=torch.int32), torch.randint(-2**31, 2**31 - 1, (32, 64), dtype=torch.int32)]


def get_init_inputs():
    return []
