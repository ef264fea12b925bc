import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scores(x_ptr, gain_ptr, bias_ptr, shift_ptr, hidden_ptr, y_ptr, T: tl.constexpr, D: tl.constexpr):
    batch = tl.program_id(0)
    t = tl.arange(0, T)[:, None]
    d = tl.arange(0, D)[None, :]
    x = tl.load(x_ptr + batch * T * D + t * D + d)
    mean = tl.sum(x, axis=1)[:, None] / D
    variance = tl.sum((x - mean) * (x - mean), axis=1)[:, None] / D
    y = (x - mean) * tl.rsqrt(variance + 1e-5) * tl.load(gain_ptr + d) + tl.load(bias_ptr + d)
    s = tl.dot(y, tl.trans(x), input_precision="ieee")
    k = tl.arange(0, T)[None, :]
    hidden = tl.load(hidden_ptr + t * T + k)
    tl.store(y_ptr + batch * T * T + t * T + k, tl.where(hidden, -1e9, s))


class ModelNew(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.shift = nn.Parameter(torch.zeros(length))
        self.register_buffer("hidden", torch.ones(length, length).triu(1).bool())

    def forward(self, x):
        y = torch.empty(x.shape[0], x.shape[1], x.shape[1], device=x.device)
        scores[(x.shape[0],)](x, self.norm.weight, self.norm.bias, self.shift, self.hidden, y, x.shape[1], x.shape[2])
        return y
