import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_add(x_ptr, y_ptr, out_ptr, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    y = tl.load(y_ptr + at % columns, mask=at < n)
    tl.store(out_ptr + at, tl.maximum(x, 0.0) + y, mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x, y):
        x = x.repeat(2, 3)
        out = torch.empty_like(x)
        relu_add[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), x.shape[1], BLOCK=64)
        return out
