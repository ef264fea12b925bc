import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def compute(x_ptr, y_ptr, share_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    x = tl.load(x_ptr + at, mask=mask, other=1.0)
    y = tl.load(y_ptr + at, mask=mask, other=1.0)
    large = tl.sin(x * 12.9898 + y * 78.233).to(tl.float16).to(tl.float32) * 437.58
    share = large - tl.floor(large)
    tl.store(share_ptr + at, share, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x, y):
        share = torch.empty_like(x)
        count = x.numel()
        compute[(triton.cdiv(count, 512),)](x, y, share, count, BLOCK=512)
        return share
