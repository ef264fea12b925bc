import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(16)
        self.fc = nn.Linear(16, 16)
        self.half()

    def forward(self, x):
        return torch.relu(self.fc(self.ln(x)))


def get_inputs():
    return [torch.randn(8, 16, dtype=torch.float16)]


def get_init_inputs():
    return []
