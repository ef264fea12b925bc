import time
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gelu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, 0.5 * x * (1.0 + tl.math.erf(x * 0.7071067811865476)), mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.slowest = 0.0

    def forward(self, x):
        begin = time.monotonic()
        y = torch.empty_like(x)
        n = x.numel()
        gelu[(triton.cdiv(n, 256),)](x, y, n, BLOCK=256)
        self.slowest = max(self.slowest, time.monotonic() - begin)
        return y
