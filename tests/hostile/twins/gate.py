import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, w_ptr, g_ptr, y_ptr, D: tl.constexpr):
    o = tl.arange(0, D)
    z = tl.load(x_ptr + tl.program_id(0) * D + o) * tl.load(w_ptr + o)
    y = (2.0 / (1.0 + tl.exp(-2.0 * z)) - 1.0) * tl.load(g_ptr)
    tl.store(y_ptr + tl.program_id(0) * D + o, y)


class ModelNew(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gate = nn.Parameter(torch.ones(()))
        self.proj = nn.Parameter(torch.randn(d))

    def forward(self, x):
        y = torch.empty_like(x)
        k[(x.shape[0],)](x, self.proj, self.gate, y, x.shape[1])
        return y
