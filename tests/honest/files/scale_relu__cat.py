import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    tl.store(y_ptr + o, tl.maximum(tl.load(x_ptr + o, mask=m) * 1.5 + 0.25, 0.0), mask=m)


class ModelNew(nn.Module):
    def forward(self, x):
        n = x.shape[0] // 2
        a, b = x[:n].contiguous(), x[n:].contiguous()
        p, q = torch.empty_like(a), torch.empty_like(b)
        k[(triton.cdiv(a.numel(), 256),)](a, p, a.numel(), BLOCK=256)
        k[(triton.cdiv(b.numel(), 256),)](b, q, b.numel(), BLOCK=256)
        return torch.cat([p, q], dim=0)
