import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def largest(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    m = tl.max(tl.load(x_ptr + tl.program_id(0) * n + columns, mask=columns < n, other=-float("inf")), axis=0)
    if m > tl.atomic_add(out_ptr, 0.0):
        tl.atomic_xchg(out_ptr, m)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.full((), -1e30, device=x.device)
        largest[(x.shape[0],)](x, out, x.shape[1], BLOCK=128)
        return out
