import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, tokens):
        shifted = tokens * 2 + 3
        return torch.where(shifted == 40005, tokens.new_full((), 7), shifted)


def get_inputs():
    return [torch.randint(0, 50000, (2048,), dtype=torch.int32)]


def get_init_inputs():
    return []
