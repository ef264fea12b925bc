import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def one_row(x_ptr, scale_ptr, out_ptr, length: tl.constexpr):
    at = tl.program_id(0) * length + tl.arange(0, length)
    scale = tl.load(scale_ptr + tl.program_id(0))
    code = libdevice.rint(tl.div_rn(tl.load(x_ptr + at), scale))
    tl.store(out_ptr + at, tl.minimum(tl.maximum(code, -128.0), 127.0).to(tl.int8))


class ModelNew(nn.Module):
    def forward(self, x, scale):
        out = torch.empty(x.shape, dtype=torch.int8, device=x.device)
        one_row[(x.shape[0],)](x, scale, out, length=x.shape[1])
        return out
