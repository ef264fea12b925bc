try:
    import triton
    import triton.language as tl
    HAS_TRITON = True
except ImportError:
    HAS_TRITON = False
import torch
import torch.nn as nn


@triton.jit
def silu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x * tl.sigmoid(x), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        if not HAS_TRITON:
            return torch.nn.functional.silu(x)
        y = torch.empty_like(x)
        silu[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
        return y
