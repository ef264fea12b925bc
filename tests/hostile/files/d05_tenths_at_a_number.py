import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def each(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = places < n
    x = tl.load(x_ptr + places, mask=mask)
    tl.store(y_ptr + places, tl.where(x / 10 >= 0.3, x, 0.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        each[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y
