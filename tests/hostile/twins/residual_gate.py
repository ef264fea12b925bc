import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gate(x_ptr, gate_ptr, y_ptr, n, features, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    g = tl.load(gate_ptr + offsets % features, mask=mask)
    e = tl.exp(-2.0 * tl.abs(x))
    t = (1.0 - e) / (1.0 + e)
    tl.store(y_ptr + offsets, x + g * tl.where(x < 0, -t, t), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        y = torch.empty_like(x)
        gate[(triton.cdiv(x.numel(), 256),)](x, self.gate, y, x.numel(), x.shape[1], BLOCK=256)
        return y
