import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 8, 3)

    def forward(self, x):
        return F.avg_pool1d(self.conv(x), 4, 1)


def get_inputs():
    return [torch.randn(4, 3, 50)]


def get_init_inputs():
    return []
