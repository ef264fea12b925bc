import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def times(a, b):
    return a * b


@triton.jit
def scan_rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + columns, mask=columns < n, other=1.0)
    tl.store(y_ptr + tl.program_id(0) * n + columns, tl.associative_scan(x, 0, times), mask=columns < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        scan_rows[(x.shape[0],)](x, y, x.shape[1], BLOCK=32)
        return y
