import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_parts(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside) * 1.5, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        parts, parts_of_out = x.view(torch.float32), out.view(torch.float32)
        scale_parts[(triton.cdiv(parts.numel(), 256),)](parts, parts_of_out, parts.numel(), BLOCK=256)
        return out
