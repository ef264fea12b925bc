import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def quantise(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n) * 10
    q = tl.extra.cuda.libdevice.rint(x)
    tl.store(y_ptr + i, tl.minimum(tl.maximum(q, -128.0), 127.0).to(tl.int8), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x, dtype=torch.int8)
        quantise[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), 512)
        return y
