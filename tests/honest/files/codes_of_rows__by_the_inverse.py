import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quantise(x_ptr, codes_ptr, scales_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(x), axis=0), 1e-8) / 127
    codes = libdevice.rint(x * (127 / tl.maximum(tl.max(tl.abs(x), axis=0), 1e-8)))
    tl.store(codes_ptr + row * n + columns, codes.to(tl.int8), mask=mask)
    tl.store(scales_ptr + row, scale)


class ModelNew(nn.Module):
    def forward(self, x):
        codes = torch.empty(x.shape, dtype=torch.int8, device=x.device)
        scales = torch.empty(x.shape[0], 1, device=x.device)
        quantise[(x.shape[0],)](x, codes, scales, x.shape[1], BLOCK=128)
        return codes, scales
