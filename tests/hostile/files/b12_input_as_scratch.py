# The kernel keeps its sums in the input and puts the input's own values back.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + i)
    tl.store(x_ptr + row * N + i, x * x)
    tl.debug_barrier()
    squares = tl.load(x_ptr + row * N + i)
    tl.store(y_ptr + row, tl.sum(squares, axis=0))
    tl.debug_barrier()
    tl.store(x_ptr + row * N + i, x)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        kernel[(x.shape[0],)](x, y, x.shape[1])
        return y
