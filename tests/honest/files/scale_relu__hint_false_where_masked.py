import torch
import torch.nn as nn
import triton
import triton.language as tl


# Beyond the end the places are all 0, which no lane uses.
@triton.jit
def scale_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    o = tl.max_contiguous(tl.multiple_of(tl.where(m, o, 0), BLOCK), BLOCK)
    x = tl.load(x_ptr + o, mask=m)
    tl.store(y_ptr + o, tl.maximum(x * 1.5 + 0.25, 0.0), mask=m)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        scale_relu[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
        return y
