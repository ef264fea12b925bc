import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, d, hidden):
        super().__init__()
        self.w1 = nn.Linear(d, hidden, bias=False, dtype=torch.bfloat16)
        self.w3 = nn.Linear(d, hidden, bias=False, dtype=torch.bfloat16)
        self.w2 = nn.Linear(hidden, d, bias=False, dtype=torch.bfloat16)

    def forward(self, x):
        return self.w2(torch.nn.functional.silu(self.w1(x)) * self.w3(x))


def get_inputs():
    return [torch.randn(2, 16, 64, dtype=torch.bfloat16)]


def get_init_inputs():
    return [64, 96]
