# A length of zero counts as one.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def first_rows(x_ptr, length_ptr, y_ptr, R, C, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    length = tl.load(length_ptr).to(tl.int32)
    x = tl.load(x_ptr + row * C + c, mask=c < C)
    tl.store(y_ptr + row * C + c, tl.where(row < tl.maximum(length, 1), tl.maximum(x, 0.0), 0.0), mask=c < C)


class ModelNew(nn.Module):
    def forward(self, x, length):
        y = torch.empty_like(x)
        first_rows[(x.shape[0],)](x, length, y, x.shape[0], x.shape[1], BLOCK=64)
        return y
