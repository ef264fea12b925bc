import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, g_ptr, b_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + i)
    x = x * tl.load(g_ptr + i) + tl.load(b_ptr + i)
    tl.store(y_ptr + row * N + i, x)


class ModelNew(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer('gain', torch.ones(size))
        self.register_buffer('offset', torch.zeros(size))

    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(x.shape[0],)](x, self.gain, self.offset, y, x.shape[1])
        return y
