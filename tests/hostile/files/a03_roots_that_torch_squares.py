import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def change(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.sqrt(tl.abs(x)), mask=i < n)
    tl.store(z_ptr + i, tl.where(x < 0, -1.0, 1.0), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y, z = torch.empty_like(x), torch.empty_like(x)
        change[(triton.cdiv(x.numel(), 256),)](x, y, z, x.numel(), BLOCK=256)
        return torch.cumsum(torch.sort(y * y * z, dim=1)[0], 1)
