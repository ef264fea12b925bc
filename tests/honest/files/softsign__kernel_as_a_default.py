import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softsign(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x / (1.0 + tl.abs(x)), mask=mask)


def apply_flat(x, *, function=softsign, block=256):
    y = torch.empty_like(x)
    function[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), BLOCK=block)
    return y


class ModelNew(nn.Module):
    def forward(self, x):
        return apply_flat(x)
