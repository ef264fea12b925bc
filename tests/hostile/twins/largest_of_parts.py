import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for first in tl.static_range(0, N, BLOCK):
        x = tl.load(x_ptr + row * N + first + tl.arange(0, BLOCK))
        top = tl.max(x, axis=0)
        tl.store(y_ptr + row, tl.maximum(tl.load(y_ptr + row), top))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.full((x.shape[0],), float("-inf"), device=x.device, dtype=x.dtype)
        kernel[(x.shape[0],)](x, y, x.shape[1], 32)
        return y
