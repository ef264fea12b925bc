import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rms(h_ptr, out_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    h = tl.load(h_ptr + row * N + i)
    tl.store(out_ptr + row * N + i, h * tl.rsqrt(tl.sum(h * h, axis=0) / N + 1e-5))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(40, 64)

    def forward(self, x):
        h = self.linear(x)
        out = torch.empty_like(h)
        rms[(h.shape[0],)](h, out, h.shape[1])
        return out
