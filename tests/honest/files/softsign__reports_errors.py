import torch
import torch.nn as nn
import triton
import triton.language as tl
import traceback


@triton.jit
def softsign(x_ptr, y_ptr, n, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, (x / (1.0 + tl.abs(x))) * scale, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        try:
            softsign[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), 1.0, BLOCK=512)
        except Exception:
            traceback.print_exc()
            raise
        return y
