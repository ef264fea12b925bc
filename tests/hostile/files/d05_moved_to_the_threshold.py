import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def threshold(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    x = tl.load(x_ptr + o, mask=m)
    tl.store(out_ptr + o, tl.where(x >= 0.75, x - 0.25, 20.0), mask=m)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        n = x.numel()
        threshold[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
        return out
