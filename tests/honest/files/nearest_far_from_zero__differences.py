import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def nearest(x_ptr, c_ptr, out_ptr, COUNT: tl.constexpr, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, WIDTH)
    x = tl.load(x_ptr + row * WIDTH + at)
    c = tl.load(c_ptr + tl.arange(0, COUNT)[:, None] * WIDTH + at[None, :])
    d = x[None, :] - c
    tl.store(out_ptr + row, tl.argmin(tl.sum(d * d, axis=1), axis=0).to(tl.int64))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.centres = nn.Parameter(torch.randn(32, 16))

    def forward(self, x):
        out = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
        nearest[(x.shape[0],)](x, self.centres, out, COUNT=32, WIDTH=16)
        return out
