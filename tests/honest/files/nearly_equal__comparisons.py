import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def every_element(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    x = tl.load(x_ptr + at, mask=inside, other=1.0)
    y = tl.load(y_ptr + at, mask=inside, other=1.0)
    near = tl.abs(x - y) <= 0.02 + tl.abs(0.1 * y)
    is_finite = (tl.abs(x) < float("inf")) & (tl.abs(y) < float("inf"))
    out = (x == y) | (is_finite & near) | ((x != x) & (y != y))
    tl.store(out_ptr + at, out, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x, y):
        out = torch.empty(x.shape, dtype=torch.bool, device=x.device)
        every_element[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK=256)
        return out
