import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def every_element(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    x = tl.load(x_ptr + at, mask=inside, other=1.0)
    out = tl.clamp(2.0 * (-1.0 / x), -40.0, 40.0)
    tl.store(out_ptr + at, out, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        every_element[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        return out
