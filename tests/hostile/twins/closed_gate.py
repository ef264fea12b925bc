import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gated(x_ptr, gate_ptr, y_ptr, n, features, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    e = tl.exp(-2.0 * tl.abs(x))
    t = (1.0 - e) / (1.0 + e)
    t = tl.where(x < 0, -t, t)
    y = x * 1.1 + tl.sigmoid(tl.load(gate_ptr + at % features, mask=at < n)) * t
    tl.store(y_ptr + at, y, mask=at < n)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.gate = nn.Parameter(torch.full((features,), -12.0))

    def forward(self, x):
        y = torch.empty_like(x)
        gated[(triton.cdiv(x.numel(), 1024),)](x, self.gate, y, x.numel(), x.shape[1], BLOCK=1024)
        return y
