import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_twice(x_ptr, both_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    y = tl.maximum(tl.load(x_ptr + offsets, mask=mask), 0.0)
    tl.store(both_ptr + offsets, y, mask=mask)
    tl.store(both_ptr + n + offsets, y, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        both = x.new_empty(2, *x.shape)
        relu_twice[(triton.cdiv(x.numel(), 1024),)](x, both, x.numel(), BLOCK=1024)
        return both[0], both[1]
