import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def least_of_rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n - 1, other=2147483647)
    tl.store(y_ptr + row, tl.min(x, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
        least_of_rows[(x.shape[0],)](x, y, x.shape[1], BLOCK=64)
        return y
