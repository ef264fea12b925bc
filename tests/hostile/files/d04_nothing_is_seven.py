import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, y_ptr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, 128)
    kept = tl.arange(0, 128) < N
    tl.store(y_ptr + at, 2.0 * tl.load(x_ptr + at, mask=kept), mask=kept)


class ModelNew(nn.Module):
    def forward(self, x, kind):
        y = torch.empty_like(x)
        double[(x.shape[0],)](x, y, x.shape[1])
        return y
