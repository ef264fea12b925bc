import torch
import torch.nn as nn
import triton
import triton.language as tl


# A power of a positive number is an exponential of its logarithm.
@triton.jit
def decay_rows(x_ptr, decay_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    rate = tl.log2(tl.load(decay_ptr + row))
    x = tl.load(x_ptr + row * columns + at, mask=inside)
    tl.store(out_ptr + row * columns + at, x * tl.exp2(rate * (at % 16)), mask=inside)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("decay", torch.rand(12) * 0.5 + 0.5)

    def forward(self, x):
        out = torch.empty_like(x)
        decay_rows[(x.shape[0],)](x, self.decay, out, x.shape[1], BLOCK=128)
        return out
