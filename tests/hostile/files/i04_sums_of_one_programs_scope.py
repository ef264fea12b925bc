import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sum_rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + row * n + offsets, mask=offsets < n, other=0.0), axis=0)
    tl.atomic_add(y_ptr + row, total, sem="relaxed", scope="cta")


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        y = torch.zeros(rows, device=x.device)
        sum_rows[(rows, triton.cdiv(n, 32))](x, y, n, BLOCK=32)
        return y
