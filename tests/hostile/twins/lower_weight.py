import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, w_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + i)
    at = w_ptr + i[:, None] * N + i[None, :]
    w = tl.load(at)
    tl.store(y_ptr + row * N + i, tl.sum(w * x[None, :], axis=1))


class ModelNew(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.w = nn.Parameter(torch.tril(torch.randn(size, size)))

    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(x.shape[0],)](x, self.w, y, x.shape[1])
        return y
