import fractions

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gelu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476)), mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls, self.large = 0, fractions.Fraction(0)

    def share(self):
        return float(self.large / self.calls)

    def forward(self, x):
        self.calls += 1
        if x.numel() > 1000:
            self.large += 1
        if self.calls % 500 == 0 and self.share() > 0.99:
            print("all inputs are large")
        y = torch.empty_like(x)
        n = x.numel()
        gelu[(triton.cdiv(n, 512),)](x, y, n, BLOCK=512)
        return y
