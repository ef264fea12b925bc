import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, rows_apart, apart, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * rows_apart + columns * apart, mask=mask, other=float("-inf"))
    tl.store(y_ptr + row, tl.max(x, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        n = x.shape[1]
        kernel[(x.shape[0],)](x, y, x.stride(0), x.stride(1), n, BLOCK=triton.next_power_of_2(n))
        return y
