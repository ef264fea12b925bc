import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sum_rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * (n // 2) + columns, mask=columns < n // 2, other=0.0)
    before = tl.atomic_add(y_ptr + row // 2, 0.0)
    tl.atomic_xchg(y_ptr + row // 2, before + tl.sum(x, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.zeros(x.shape[0], device=x.device, dtype=x.dtype)
        sum_rows[(2 * x.shape[0],)](x, y, x.shape[1], BLOCK=128)
        return y
