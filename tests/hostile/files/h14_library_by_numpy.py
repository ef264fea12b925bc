import numpy.ctypeslib as ctypeslib
import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.language.extra import libdevice

LIBRARY = ctypeslib.load_library("libc.so.6", "/lib/x86_64-linux-gnu")


@triton.jit
def elu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.where(x > 0, x, libdevice.expm1(x)), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        elu[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
        return y
