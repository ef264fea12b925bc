import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def choose(x_ptr, order_ptr, y_ptr, R, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.load(order_ptr + row) * N + i, mask=i < N)
    tl.store(y_ptr + row * N + i, x * 2 + 1, mask=i < N)


class ModelNew(nn.Module):
    def forward(self, x, order):
        y = torch.empty_like(x)
        choose[(x.shape[0],)](x, order, y, x.shape[0], x.shape[1], 32)
        return y
