import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_next(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    following = tl.load(x_ptr + (offsets + 1) % n, mask=mask)
    tl.store(y_ptr + offsets, x + following, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        add_next[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
        return y
