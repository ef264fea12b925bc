import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gated(x_ptr, gate_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n).to(tl.float32)
    gate = tl.load(gate_ptr).to(tl.float32)
    gate = 2.0 * tl.sigmoid(2.0 * gate) - 1.0
    y = x + gate * tl.sigmoid(x) * 0.5
    tl.store(y_ptr + at, y.to(tl.float16), mask=at < n)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(1, dtype=torch.float16))

    def forward(self, x):
        y = torch.empty_like(x)
        gated[(triton.cdiv(x.numel(), 1024),)](x, self.gate, y, x.numel(), BLOCK=1024)
        return y
