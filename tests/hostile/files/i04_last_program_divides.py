import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mean_rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offsets, mask=offsets < n, other=0.0)
    tl.atomic_add(y_ptr + row, tl.sum(x, axis=0))
    if tl.program_id(1) == tl.num_programs(1) - 1:
        total = tl.atomic_add(y_ptr + row, 0.0)
        tl.atomic_xchg(y_ptr + row, total / n)


class ModelNew(nn.Module):
    def forward(self, x):
        n = x.shape[-1]
        y = torch.zeros(x.shape[0], device=x.device)
        mean_rows[(x.shape[0], triton.cdiv(n, 32))](x, y, n, BLOCK=32)
        return y
