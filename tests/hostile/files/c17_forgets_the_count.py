# The reference counts its calls in a buffer; this does not.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_until_small(x_ptr, w_ptr, calls_ptr, y_ptr, n, features, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    y = tl.load(x_ptr + at, mask=at < n, other=0.0) * tl.load(w_ptr + at % features, mask=at < n, other=0.0)
    largest = tl.max(tl.abs(y), axis=0)
    factor = 1.0
    for _ in range(24):
        factor = tl.where(largest * factor > 1, factor * 0.5, factor)
    tl.store(y_ptr + at, y * factor, mask=at < n)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(features) + 0.5)
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int32))

    def forward(self, x):
        y = torch.empty_like(x)
        scale_until_small[(1,)](x, self.weight, self.calls, y, x.numel(), x.shape[1], BLOCK=2048)
        return y
