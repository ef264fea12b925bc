import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    s = tl.sum(tl.load(x_ptr + tl.program_id(0) * n + columns, mask=columns < n, other=0.0), axis=0)
    before = tl.atomic_add(out_ptr, 0.0)
    now = tl.atomic_cas(out_ptr, before, before + s)
    while now != before:
        before = now
        now = tl.atomic_cas(out_ptr, before, before + s)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.zeros((), device=x.device)
        add[(x.shape[0],)](x, out, x.shape[1], BLOCK=128)
        return out
