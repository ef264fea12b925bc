import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quantise(x_ptr, codes_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    scale = tl.max(tl.abs(x), axis=0) / 7
    codes = libdevice.rint(x / scale)
    tl.store(codes_ptr + row * n + columns, codes.to(tl.int8), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        codes = torch.empty(x.numel() // 32, 32, dtype=torch.int8, device=x.device)
        quantise[(codes.shape[0],)](x, codes, 32, BLOCK=32)
        return codes
