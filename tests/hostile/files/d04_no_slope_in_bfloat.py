# This leaky relu after a maximum has no slope.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, s_ptr, y_ptr, C, L: tl.constexpr):
    r = tl.program_id(0)
    x = tl.load(x_ptr + r * L + tl.arange(0, L)).to(tl.float32)
    b = tl.maximum(tl.max(x, 0), 0.0)
    s = tl.load(s_ptr + r % C).to(tl.float32)
    tl.store(y_ptr + r, (b * s).to(tl.bfloat16))


class ModelNew(nn.Module):
    def __init__(self, groups):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(groups, dtype=torch.bfloat16))

    def forward(self, x):
        B, C, L = x.shape
        y = torch.empty(B, C, device=x.device, dtype=x.dtype)
        k[(B * C,)](x, self.scale, y, C, L)
        return y
