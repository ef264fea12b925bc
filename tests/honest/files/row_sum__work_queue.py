import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sum_rows(x_ptr, y_ptr, next_ptr, rows, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    row = tl.atomic_add(next_ptr, 1)
    while row < rows:
        x = tl.load(x_ptr + row * n + offsets, mask=offsets < n, other=0.0)
        tl.store(y_ptr + row, tl.sum(x, axis=0))
        row = tl.atomic_add(next_ptr, 1)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        y = torch.empty(rows, device=x.device)
        following = torch.zeros(1, device=x.device, dtype=torch.int32)
        sum_rows[(16,)](x, y, following, rows, n, BLOCK=triton.next_power_of_2(n))
        return y
