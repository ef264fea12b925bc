import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scaled(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    x = tl.load(x_ptr + at, mask=inside) * 1.5 + 0.25
    out = tl.inline_asm_elementwise("max.f32 $0, $1, 0f00000000;", "=f, f", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out_ptr + at, out, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        scaled[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        return out
