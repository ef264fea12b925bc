import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, marks):
        return (marks != 0).all(dim=1), (marks != 0).any(dim=1)


def get_inputs():
    return [torch.randint(0, 2, (64, 300), dtype=torch.uint8)]


def get_init_inputs():
    return []
