import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_next(y_ptr, first_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(y_ptr + offsets)
    for _ in range(500 * (1 - program)):
        y = tl.load(y_ptr + offsets, volatile=True)
    following = tl.load(y_ptr + offsets + 1, mask=offsets + 1 < n, other=0.0)
    following = tl.where(offsets + 1 < n, following, tl.load(first_ptr))
    tl.store(y_ptr + offsets, y + following)


class ModelNew(nn.Module):
    def forward(self, x):
        y = x.clone()
        add_next[(2,)](y, x, x.numel(), BLOCK=x.numel() // 2)
        return y
