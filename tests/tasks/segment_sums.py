import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, rate):
        state, sums = torch.zeros_like(x[:, 0]), []
        for k in range(x.shape[1]):
            state = state * torch.exp(-rate[:, k].abs()) + x[:, k]
            sums.append(state)
        return torch.stack(sums, 1)


def get_inputs():
    return [torch.randn(8, 32), torch.randn(8, 32)]


def get_init_inputs():
    return []
