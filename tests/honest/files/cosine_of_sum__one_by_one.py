import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def cosine_of_sums(x_ptr, y_ptr, rows, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in range(n):
        total += tl.load(x_ptr + row * n + k, mask=row < rows, other=0.0)
    tl.store(y_ptr + row, tl.cos(3.0 * total), mask=row < rows)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        cosine_of_sums[(triton.cdiv(x.shape[0], 32),)](x, y, x.shape[0], x.shape[1], BLOCK=32)
        return y
