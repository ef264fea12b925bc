import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bias_relu(z_ptr, bias_ptr, y_ptr, n, columns, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    z = tl.load(z_ptr + offsets, mask=mask) + tl.load(bias_ptr + offsets % columns, mask=mask)
    tl.store(y_ptr + offsets, tl.maximum(z, 0.0), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.linear = nn.Linear(inner, outer)

    def forward(self, x):
        z = torch.matmul(x, self.linear.weight.t())
        y = torch.empty_like(z)
        bias_relu[(triton.cdiv(z.numel(), 256),)](z, self.linear.bias, y, z.numel(), z.shape[1], BLOCK=256)
        return y
