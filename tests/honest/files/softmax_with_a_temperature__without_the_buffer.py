import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def reduce_rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0)
    z = tl.where(mask, x, float("-inf"))
    e = tl.exp(z - tl.max(z, axis=0))
    tl.store(y_ptr + row * n + columns, e / tl.sum(e, axis=0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        n = x.shape[-1]
        y = torch.empty_like(x)
        reduce_rows[(x.numel() // n,)](x, y, n, BLOCK=128)
        return y
