import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gradient(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    d = tl.load(x_ptr + at, mask=mask) - tl.load(y_ptr + at, mask=mask)
    t = 1 - 2 / (tl.exp(2 * d) + 1)
    t = t.to(tl.bfloat16).to(tl.float32)
    tl.store(out_ptr + at, t / n, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x, y):
        out = torch.empty_like(x)
        n = x.numel()
        gradient[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
        return out
