import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, query, keys):
        scores = keys.float() @ query.float()
        return (scores * keys.shape[1] ** -0.5).half()


def get_inputs():
    return [torch.randn(64).half(), torch.randn(96, 64).half()]


def get_init_inputs():
    return []
