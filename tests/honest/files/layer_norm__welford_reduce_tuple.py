import torch
import torch.nn as nn
import triton
import triton.language as tl



@triton.jit
def combine(mean_a, m2_a, w_a, mean_b, m2_b, w_b):
    d = mean_b - mean_a
    w = w_a + w_b
    r = tl.where(w == 0.0, 0.0, w_b / w)
    return mean_a + d * r, m2_a + m2_b + d * d * w_a * r, w


@triton.jit
def ln(x_ptr, w_ptr, b_ptr, y_ptr, sizes, eps, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    rows = sizes[0]
    n = sizes[1]
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    o = tl.arange(0, BLOCK)
    m = (r[:, None] < rows) & (o[None, :] < n)
    x = tl.load(x_ptr + r[:, None] * n + o[None, :], mask=m, other=0.0).to(tl.float32)
    cnt = m.to(tl.float32)
    mean, m2, w = tl.reduce((x, tl.zeros_like(x), cnt), 1, combine)
    rstd = tl.rsqrt(m2 / n + eps)
    g = tl.load(w_ptr + o, mask=o < n, other=0.0)
    b = tl.load(b_ptr + o, mask=o < n, other=0.0)
    y = tl.fma((x - mean[:, None]) * rstd[:, None], tl.broadcast_to(g[None, :], (ROWS, BLOCK)), tl.broadcast_to(b[None, :], (ROWS, BLOCK)))
    tl.store(y_ptr + r[:, None] * n + o[None, :], y, mask=m)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        y = torch.empty_like(x)
        rows = x.numel() // x.shape[-1]
        ln[(triton.cdiv(rows, 4),)](x, self.norm.weight, self.norm.bias, y, (rows, x.shape[-1]), self.norm.eps,
                                    BLOCK=triton.next_power_of_2(x.shape[-1]), ROWS=4, num_warps=2)
        return y
