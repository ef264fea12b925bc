import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def largest(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + columns, mask=columns < n, other=-float("inf"))
    tl.atomic_max(out_ptr, tl.max(x, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.full((), -float("inf"), device=x.device)
        largest[(x.shape[0],)](x, out, x.shape[1], BLOCK=128)
        return out
