import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def find_range(x_ptr, range_ptr, n, BLOCK: tl.constexpr):
    low = tl.full([BLOCK], float("inf"), tl.float32)
    high = tl.full([BLOCK], float("-inf"), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < n
        x = tl.load(x_ptr + at, mask=mask, other=0.0)
        low = tl.minimum(low, tl.where(mask, x, float("inf")))
        high = tl.maximum(high, tl.where(mask, x, float("-inf")))
    tl.store(range_ptr, tl.min(low, axis=0))
    tl.store(range_ptr + 1, tl.max(high, axis=0))


@triton.jit
def scale(x_ptr, range_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    low, high = tl.load(range_ptr), tl.load(range_ptr + 1)
    x = tl.load(x_ptr + at, mask=mask)
    tl.store(out_ptr + at, (x - low) / (high - low + eps), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        found = torch.empty(2, device=x.device)
        out = torch.empty_like(x)
        n = x.numel()
        find_range[(1,)](x, found, n, BLOCK=1024)
        scale[(triton.cdiv(n, 512),)](x, found, out, n, 1e-5, BLOCK=512)
        return out
