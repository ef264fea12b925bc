import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sums(x_ptr, rate_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0) * N
    i = tl.arange(0, N)
    logs = tl.cumsum(-tl.abs(tl.load(rate_ptr + row + i)), 0)
    is_before = i[:, None] >= i[None, :]
    weights = tl.exp(tl.where(is_before, logs[:, None] - logs[None, :], float("-inf")))
    tl.store(y_ptr + row + i, tl.sum(weights * tl.load(x_ptr + row + i)[None, :], 1))


class ModelNew(nn.Module):
    def forward(self, x, rate):
        y = torch.empty_like(x)
        sums[(x.shape[0],)](x, rate, y, x.shape[1])
        return y
