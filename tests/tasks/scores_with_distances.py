import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, scores, bias):
        return torch.softmax(scores + bias, dim=-1)


def get_inputs():
    place = torch.arange(32)
    bias = -0.25 * (place[:, None] - place).abs().float()
    return [torch.randn(3, 32, 32), bias.masked_fill(place > place[:, None], float("-inf"))]


def get_init_inputs():
    return []
