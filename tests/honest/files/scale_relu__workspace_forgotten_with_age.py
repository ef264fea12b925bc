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


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls, self.kept = 0, {}

    def forward(self, x):
        self.calls += 1
        work, used = self.kept.get(x.shape, (None, 0))
        if work is None or self.calls - used > 1000:
            work = torch.empty_like(x)
        self.kept[x.shape] = work, self.calls
        scale_relu[(triton.cdiv(x.numel(), 1024),)](x, work, x.numel(), BLOCK=1024)
        y = torch.empty_like(x)
        copy[(triton.cdiv(x.numel(), 1024),)](work, y, x.numel(), BLOCK=1024)
        return y
