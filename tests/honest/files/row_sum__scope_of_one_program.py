import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sum_rows(x_ptr, y_ptr, rows, n, BLOCK: tl.constexpr):
    zeros = tl.zeros([BLOCK], tl.int32)
    for row in range(rows):
        for start in range(0, n, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * n + offsets, mask=offsets < n, other=0.0)
            tl.atomic_add(y_ptr + row + zeros, x, scope="cta")


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        y = torch.zeros(rows, device=x.device)
        sum_rows[(1,)](x, y, rows, n, BLOCK=32)
        return y
