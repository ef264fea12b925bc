import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mean(x_ptr, y_ptr, n, PART: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([PART], tl.float32)
    for start in range(0, n, PART):
        total += tl.load(x_ptr + row * n + start + tl.arange(0, PART)).to(tl.float32)
    tl.store(y_ptr + row, tl.sum(total, axis=0) / n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        mean[(x.shape[0],)](x, y, x.shape[1], PART=2048)
        return y
