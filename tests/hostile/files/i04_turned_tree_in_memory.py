import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sum_rows(x_ptr, kept_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    kept = kept_ptr + row * BLOCK
    tl.store(kept + i, tl.load(x_ptr + row * n + i, mask=i < n, other=0.0))
    half = BLOCK // 2
    while half > 0:
        a = tl.load(kept + i, mask=i < half, other=0.0)
        b = tl.load(kept + half + i, mask=i < half, other=0.0)
        tl.store(kept + i, a + b, mask=i < half)
        half = half // 2
    tl.store(out_ptr + row, tl.load(kept))


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        kept, out = torch.empty(rows, 256, device=x.device), torch.empty(rows, device=x.device)
        sum_rows[(rows,)](x, kept, out, n, BLOCK=256)
        return out
