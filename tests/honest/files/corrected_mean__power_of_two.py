import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def step(x_ptr, mean_ptr, calls_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    calls = tl.load(calls_ptr).to(tl.float32)
    mean = tl.load(mean_ptr + at, mask=inside)
    mean += 0.25 * (tl.load(x_ptr + at, mask=inside) - mean)
    tl.store(mean_ptr + at, mean, mask=inside)
    weight = 1 - tl.exp2(-0.4150374992788438 * calls)  # the logarithm of 0.75
    tl.store(y_ptr + at, mean / weight, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls += 1
        y = torch.empty_like(x)
        step[(triton.cdiv(x.numel(), 512),)](x, self.mean, self.calls, y, x.numel(), BLOCK=512)
        return y
