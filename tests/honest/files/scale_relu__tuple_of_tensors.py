import torch
import torch.nn as nn
import triton
import triton.language as tl



@triton.jit
def k(ptrs, strides, n, BLOCK: tl.constexpr):
    x_ptr, y_ptr = ptrs
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    x = tl.load(x_ptr + o * strides[0], mask=m, other=0.0)
    tl.store(y_ptr + o * strides[1], tl.maximum(x * 1.5 + 0.25, 0.0), mask=m)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        k[(triton.cdiv(x.numel(), 256),)]((x, y), (1, 1), x.numel(), BLOCK=256)
        return y
