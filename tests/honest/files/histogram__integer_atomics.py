import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def count(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.atomic_add(y_ptr + x, 1.0, mask=offsets < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.zeros(16, device=x.device)
        count[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
        return y
