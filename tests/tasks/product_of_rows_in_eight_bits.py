"""A product of rows in whole numbers of eight bits, with one scale a row, and a weight of such numbers."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.register_buffer("codes", torch.randint(-127, 128, (outputs, features), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(outputs) * 0.01 + 1e-3)

    def forward(self, x):
        wide = x.float()
        scale = wide.abs().amax(-1, keepdim=True).clamp(min=1e-5) / 127
        codes = torch.round(wide / scale).clamp(-128, 127)
        return ((codes @ self.codes.float().t()) * scale * self.scales).to(x.dtype)


def get_inputs():
    return [torch.randn(32, 128, dtype=torch.float16)]


def get_init_inputs():
    return [128, 64]
