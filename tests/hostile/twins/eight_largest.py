import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def largest(x_ptr, y_ptr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + i)
    for k in range(K):
        top = tl.max(x, axis=0)
        at = tl.min(tl.where(x == top, i, N), axis=0)
        tl.store(y_ptr + row * K + k, top)
        x = tl.where(i == at, float("-inf"), x)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], 8, device=x.device)
        largest[(x.shape[0],)](x, y, x.shape[1], 8)
        return y
