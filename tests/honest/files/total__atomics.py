import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def total(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y_ptr, tl.sum(tl.load(x_ptr + offsets, mask=offsets < n, other=0.0), axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.zeros((), device=x.device, dtype=x.dtype)
        total[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
        return y
