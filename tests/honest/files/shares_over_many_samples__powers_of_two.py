import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def shares(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=float("-inf"))
    x = x - tl.max(x, axis=0)
    e = tl.exp2(x * 1.4426950408889634)
    tl.store(out_ptr + row * n + at, e / tl.sum(e, axis=0) / 4096, mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        shares[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
