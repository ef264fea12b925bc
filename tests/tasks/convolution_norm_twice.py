import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 8, 3, padding=1)
        self.bn = nn.BatchNorm1d(8)
        self.conv2 = nn.Conv1d(8, 8, 1)
        self.bn2 = nn.BatchNorm1d(8)
        self.eval()

    def forward(self, x):
        return torch.relu(self.bn2(self.conv2(self.bn(self.conv(x)))))


def get_inputs():
    return [torch.randn(2, 4, 16)]


def get_init_inputs():
    return []
