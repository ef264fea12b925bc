import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_and_norm(x_ptr, residual_ptr, w_ptr, y_ptr, sum_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0) + tl.load(residual_ptr + row * n + columns, mask=mask, other=0.0)
    tl.store(sum_ptr + row * n + columns, x, mask=mask)
    y = x.to(tl.float32)
    y = y * tl.rsqrt(tl.sum(y * y, axis=0) / n + eps)
    tl.store(y_ptr + row * n + columns, y.to(tl.float16) * tl.load(w_ptr + columns, mask=mask), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features, dtype=torch.float16))

    def forward(self, x, residual):
        y, total = torch.empty_like(x), torch.empty_like(x)
        add_and_norm[(x.shape[0],)](x, residual, self.weight, y, total, x.shape[1], 1e-6, BLOCK=128)
        return y, total
