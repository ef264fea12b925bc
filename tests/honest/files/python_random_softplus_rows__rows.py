import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rows_of(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=float("-inf"))
    elu = tl.where(x > 0, x, tl.exp(tl.minimum(x, 0.0)) - 1.0)
    most = tl.max(x, axis=0)
    tl.store(y_ptr + row, tl.sum(tl.where(mask, elu, 0.0), axis=0) + most + tl.log(tl.sum(tl.exp(x - most), axis=0)))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device)
        rows_of[(x.shape[0],)](x, y, x.shape[1], BLOCK=64)
        return y
