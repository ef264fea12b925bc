import types

import torch
import torch.nn as nn
import triton
import triton.language as tl


def fast_launch(kernel, grid, *args, **options):
    if isinstance(grid, types.FunctionType):
        grid = grid(options)
    return kernel[grid](*args, **options)


@triton.jit
def hardtanh(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.clamp(x, -1.0, 1.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        fast_launch(hardtanh, lambda meta: (triton.cdiv(n, meta["BLOCK"]),), x, y, n, BLOCK=512)
        return y
