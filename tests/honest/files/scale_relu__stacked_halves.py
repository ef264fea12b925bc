import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_rows(x_ptr, rows_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.load(rows_ptr + tl.program_id(0))
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + row * n + offsets, mask=mask)
    tl.store(y_ptr + tl.program_id(0) * n + offsets, tl.maximum(x * 1.5 + 0.25, 0.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        count, n = x.shape
        half = count // 2
        rows = torch.arange(count, device=x.device)
        halves = []
        for first in (0, half):
            y = torch.empty((half, n), device=x.device, dtype=x.dtype)
            scale_rows[(half,)](x, rows[first:], y, n, BLOCK=triton.next_power_of_2(n))
            halves.append(y)
        return torch.stack(halves).view(count, n)
