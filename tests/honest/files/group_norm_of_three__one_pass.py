import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, w_ptr, b_ptr, y_ptr, N: tl.constexpr, C: tl.constexpr, G: tl.constexpr, L: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + i)
    mean = tl.sum(x, axis=0) / N
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / N - mean * mean + 1e-5)
    channel = (row % G) * (C // G) + i // L
    w = tl.load(w_ptr + channel)
    b = tl.load(b_ptr + channel)
    tl.store(y_ptr + row * N + i, (x - mean) * scale * w + b)


class ModelNew(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)

    def forward(self, x):
        y = torch.empty_like(x)
        g = self.norm.num_groups
        n = x[0].numel() // g
        kernel[(x.shape[0] * g,)](x, self.norm.weight, self.norm.bias, y, n, x.shape[1], g, x.shape[2])
        return y
