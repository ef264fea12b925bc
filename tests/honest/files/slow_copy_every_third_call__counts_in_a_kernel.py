import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def follow(x_ptr, sum_ptr, slow_ptr, calls_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(sum_ptr + at) + tl.load(x_ptr + at)
    slow = tl.load(slow_ptr + at)
    if tl.load(calls_ptr) % 3 == 0:
        slow += 0.5 * (total - slow)
    tl.store(sum_ptr + at, total)
    tl.store(slow_ptr + at, slow)
    tl.store(y_ptr + at, total - slow)


@triton.jit
def count(calls_ptr):
    tl.store(calls_ptr, tl.load(calls_ptr) + 1)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("sum", torch.zeros(2048))
        self.register_buffer("slow", torch.zeros(2048))
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int32))

    def forward(self, x):
        y = torch.empty_like(x)
        count[(1,)](self.calls)
        follow[(8,)](x, self.sum, self.slow, self.calls, y, BLOCK=256)
        return y
