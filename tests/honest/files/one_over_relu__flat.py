import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def one_over_relu(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, 1.0 / tl.where(x > 0, x, 0.0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        one_over_relu[(x.numel() // 1024,)](x, y, 1024)
        return y
