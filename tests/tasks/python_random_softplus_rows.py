import random

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.elu(x).sum(-1) + torch.logsumexp(x, dim=-1)


def get_inputs():
    random.seed(7)
    return [torch.tensor([[random.gauss(0, 1) for _ in range(48)] for _ in range(20)])]


def get_init_inputs():
    return []
