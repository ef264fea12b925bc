import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def activate(x_ptr, y_ptr, columns, y_stride, SIGMOID: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + c, mask=c < columns)
    tl.store(y_ptr + row * y_stride + c, tl.sigmoid(x) if SIGMOID else tl.maximum(x, 0.0), mask=c < columns)


class ModelNew(nn.Module):
    def forward(self, x, y):
        out = torch.empty((x.shape[0], x.shape[1] + y.shape[1]), device=x.device, dtype=x.dtype)
        for source, place, sigmoid in ((x, out[:, :x.shape[1]], False), (y, out[:, x.shape[1]:], True)):
            activate[(x.shape[0],)](source, place, source.shape[1], place.stride(0), SIGMOID=sigmoid, BLOCK=32)
        return out
