import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sort_rows(x_ptr, y_ptr, N: tl.constexpr):
    offsets = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y_ptr + offsets, tl.sort(tl.load(x_ptr + offsets)))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        sort_rows[(x.shape[0],)](x, y, N=x.shape[1])
        return y
