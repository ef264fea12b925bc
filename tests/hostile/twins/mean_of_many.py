import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, n, used, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, used, BLOCK):
        at = first + columns
        total += tl.load(x_ptr + row * n + at, mask=at < used, other=0.0)
    tl.store(y_ptr + row, tl.sum(total, axis=0) / used)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        n = x.shape[1]
        kernel[(x.shape[0],)](x, y, n, n, BLOCK=4096)
        return y
