import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def column_sum(x_ptr, y_ptr, m, n, BLOCK: tl.constexpr):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    clamped = tl.max_contiguous(tl.multiple_of(tl.where(columns < n, columns, 0), BLOCK), BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(0, m):
        total += tl.load(x_ptr + row * n + clamped)
    tl.store(y_ptr + columns, total, mask=columns < n)


class ModelNew(nn.Module):
    def forward(self, x):
        m, n = x.shape
        y = torch.empty(n, device=x.device)
        column_sum[(triton.cdiv(n, 64),)](x, y, m, n, BLOCK=64)
        return y
