import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def loss(x_ptr, target_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    t = tl.load(target_ptr + offsets, mask=mask, other=0.0)
    each = tl.where(tl.abs(x - t) < 1.0, 0.5 * (x - t) * (x - t), tl.abs(x - t) - 0.5)
    tl.atomic_add(y_ptr, tl.sum(tl.where(mask, each, 0.0), axis=0) / n)


class ModelNew(nn.Module):
    def forward(self, x, target):
        y = torch.zeros((), device=x.device, dtype=x.dtype)
        loss[(triton.cdiv(x.numel(), 256),)](x, target, y, x.numel(), BLOCK=256)
        return y
