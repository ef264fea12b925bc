import torch
import torch.nn as nn
import triton
import triton.language as tl


def raw_hardswish(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x * tl.minimum(tl.maximum(x + 3.0, 0.0), 6.0) / 6.0, mask=mask)


def compiled(function):
    return triton.jit(function)


class Launcher:
    def __init__(self, block):
        self.block = block
        self.function = compiled(raw_hardswish)

    def __call__(self, x, y):
        chosen = self.function
        chosen[(triton.cdiv(x.numel(), self.block),)](x, y, x.numel(), BLOCK=self.block)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.launcher = Launcher(512)

    def forward(self, x):
        y = torch.empty_like(x)
        self.launcher(x, y)
        return y
