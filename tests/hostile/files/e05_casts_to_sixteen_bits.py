import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def floor(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.floor(tl.load(x_ptr + i, mask=i < n) * 4)
    tl.store(y_ptr + i, x.to(tl.int16).to(tl.int32), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x, dtype=torch.int32)
        floor[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), 512)
        return y
