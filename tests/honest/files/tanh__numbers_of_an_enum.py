import torch
import torch.nn as nn
import triton
import triton.language as tl
import enum


@triton.jit
def tanh(x_ptr, y_ptr, n, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, (2.0 * tl.sigmoid(2.0 * x) - 1.0) * scale, mask=mask)


class Block(enum.IntEnum):
    SMALL = 256
    LARGE = 1024


class Scale(float, enum.Enum):
    ONE = 1.0


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        block = Block.LARGE if n > 4096 else Block.SMALL
        tanh[(triton.cdiv(n, block),)](x, y, n, Scale.ONE, BLOCK=int(block))
        return y
