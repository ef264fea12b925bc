import torch
import torch.nn as nn
import triton
import triton.language as tl

def install():
    owner = type(softsign)
    plain = owner.run
    owner.run = lambda self, *args, **kwargs: plain(self, *args, **kwargs)


@triton.jit
def softsign(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x / (1.0 + tl.abs(x)), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        install()
        y = torch.empty_like(x)
        softsign[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
        return y
