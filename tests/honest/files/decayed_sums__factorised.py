import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, g_ptr, y_ptr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    c = tl.cumsum(tl.load(g_ptr + i), axis=0)
    y = tl.exp(c) * tl.cumsum(tl.exp(-c) * tl.load(x_ptr + i), axis=0)
    tl.store(y_ptr + i, y)


class ModelNew(nn.Module):
    def forward(self, x, g):
        y = torch.empty_like(x)
        kernel[(x.shape[0],)](x, g, y, x.shape[1])
        return y
