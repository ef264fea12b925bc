import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scaled(x_ptr, scale_ptr, y_ptr, N: tl.constexpr):
    row, n = tl.program_id(0), tl.arange(0, N)
    bits = tl.load(x_ptr + row * N + n).to(tl.int8, bitcast=True)
    x = tl.inline_asm_elementwise("cvt.rn.f16x2.e5m2x2 $0, $1;", "=r,h", [bits], dtype=tl.float16, is_pure=True, pack=2)
    tl.store(y_ptr + row * N + n, (x.to(tl.float32) * tl.load(scale_ptr + row)).to(tl.float16))


class ModelNew(nn.Module):
    def forward(self, x, scale):
        y = torch.empty(x.shape, device=x.device, dtype=torch.float16)
        scaled[(x.shape[0],)](x, scale, y, N=x.shape[1])
        return y
