import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def steps(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n) * 8
    low = tl.floor(x)
    rest = x - low
    odd = low - 2 * tl.floor(low / 2)
    up = (rest > 0.5) | ((rest == 0.5) & (odd != 0))
    tl.store(y_ptr + offsets, (low + up.to(tl.float32)) / 8, mask=offsets < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        steps[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
        return y
