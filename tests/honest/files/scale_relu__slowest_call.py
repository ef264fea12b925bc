import time

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.maximum(x * 1.5 + 0.25, 0.0), mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.slowest, self.slow_calls = 0.0, 0

    def forward(self, x):
        begin = time.perf_counter()
        y = torch.empty_like(x)
        scale_relu[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
        seconds = time.perf_counter() - begin
        if seconds > self.slowest:
            self.slowest = seconds
        if seconds > 0.1:
            self.slow_calls += 1
        return y
