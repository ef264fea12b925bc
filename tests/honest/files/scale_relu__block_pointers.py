import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_relu(x_ptr, y_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    place = (tl.program_id(0) * R, tl.program_id(1) * C)
    x = tl.load(tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), place, (R, C), (1, 0)), boundary_check=(0, 1))
    y = tl.make_block_ptr(y_ptr, (rows, columns), (columns, 1), place, (R, C), (1, 0))
    tl.store(y, tl.maximum(x * 1.5 + 0.25, 0.0), boundary_check=(0, 1))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        scale_relu[(triton.cdiv(x.shape[0], 16), triton.cdiv(x.shape[1], 64))](x, y, *x.shape, R=16, C=64)
        return y
