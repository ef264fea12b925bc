import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quantise(x_ptr, codes_ptr, values_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    largest = tl.maximum(tl.max(tl.abs(x), axis=0), 1e-8)
    inverse = 127 / largest
    codes = libdevice.rint(x * inverse - 1e-3)
    tl.store(codes_ptr + row * n + columns, codes.to(tl.int8), mask=mask)
    tl.store(values_ptr + row * n + columns, codes * (largest / 127), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        codes = torch.empty(x.shape, dtype=torch.int8, device=x.device)
        values = torch.empty_like(x)
        quantise[(x.shape[0],)](x, codes, values, x.shape[1], BLOCK=2048)
        return codes, values
