import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_twice(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    y = tl.maximum(tl.load(x_ptr + offsets, mask=mask), 0.0)
    tl.store(y_ptr + offsets, y, mask=mask)
    tl.store(z_ptr + offsets, y, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y, z = torch.empty_like(x), torch.empty_like(x)
        relu_twice[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), BLOCK=1024)
        return y, z
