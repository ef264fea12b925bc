import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def pad(x_ptr, out_ptr, N, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, WIDTH)
    x = tl.load(x_ptr + row * N + i, mask=i < N, other=0.0)
    tl.store(out_ptr + row * WIDTH + i, x)


@triton.jit
def rms(h_ptr, b_ptr, out_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    h = tl.load(h_ptr + row * N + i) + tl.load(b_ptr + i)
    tl.store(out_ptr + row * N + i, h * tl.rsqrt(tl.sum(h * h, axis=0) / N + 1e-5))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(40, 64)

    def forward(self, x):
        rows, n = x.shape
        wide, weight = torch.empty(rows, 64, device=x.device), torch.empty(64, 64, device=x.device)
        pad[(rows,)](x, wide, n, 64)
        pad[(64,)](self.linear.weight, weight, n, 64)
        h = torch.mm(wide, weight.t())
        out = torch.empty_like(h)
        rms[(rows,)](h, self.linear.bias, out, 64)
        return out
