import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def triple(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    x = tl.load(x_ptr + o, mask=m)
    tl.store(out_ptr + o, tl.where(tl.abs(x) >= 1.0, x * 3.0, x), mask=m)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        triple[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
        return out
