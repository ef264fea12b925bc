import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm1d(features)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(self.norm(x))


def get_inputs():
    return [torch.randn(256, 64)]


def get_init_inputs():
    return [64]
