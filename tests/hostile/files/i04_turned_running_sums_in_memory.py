import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def running_sums(x_ptr, kept_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    kept = kept_ptr + row * BLOCK
    total = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
    step = 1
    while step < BLOCK:
        tl.store(kept + i, total)
        total += tl.load(kept + i - step, mask=i >= step, other=0.0)
        step *= 2
    tl.store(out_ptr + row * n + i, total, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        n = x.shape[0]
        block = triton.next_power_of_2(n)
        kept, out = torch.empty(block, device=x.device), torch.empty_like(x)
        running_sums[(1,)](x, kept, out, n, BLOCK=block)
        return out
