import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def exponential(x_ptr, y_ptr, b_stride, r_stride, c_stride, rows, columns, BLOCK: tl.constexpr):
    b, r = tl.program_id(0), tl.program_id(1)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + b * b_stride + r * r_stride + c * c_stride, mask=c < columns)
    tl.store(y_ptr + (b * rows + r) * columns + c, tl.exp(x), mask=c < columns)


class ModelNew(nn.Module):
    def forward(self, x):
        view = x[:, ::2, 3:]
        y = torch.empty(view.shape, device=x.device, dtype=x.dtype)
        exponential[view.shape[:2]](view, y, *view.stride(), *view.shape[1:], BLOCK=32)
        return y
