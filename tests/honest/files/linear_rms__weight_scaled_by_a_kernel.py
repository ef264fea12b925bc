import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale(w_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(w_ptr + i) * 0.125)


@triton.jit
def rms(h_ptr, b_ptr, out_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    h = tl.load(h_ptr + row * N + i) * 8.0 + tl.load(b_ptr + i)
    tl.store(out_ptr + row * N + i, h * tl.rsqrt(tl.sum(h * h, axis=0) / N + 1e-5))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(40, 64)

    def forward(self, x):
        weight = torch.empty_like(self.linear.weight)
        scale[(10,)](self.linear.weight, weight, 256)
        h = torch.mm(x, weight.t())
        out = torch.empty_like(h)
        rms[(x.shape[0],)](h, self.linear.bias, out, 64)
        return out
