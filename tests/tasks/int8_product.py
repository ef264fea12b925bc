import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        c = torch.matmul(a.float(), b.float()).to(torch.int32)
        return c, (c > 0).any(dim=1)


def get_inputs():
    return [torch.randint(-128, 128, (20, 64), dtype=torch.int8), torch.randint(-128, 128, (64, 24), dtype=torch.int8)]


def get_init_inputs():
    return []
