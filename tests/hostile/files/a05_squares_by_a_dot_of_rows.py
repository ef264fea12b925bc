import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale(h_ptr, s_ptr, out_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    h = tl.load(h_ptr + row * N + i)
    tl.store(out_ptr + row * N + i, h * tl.rsqrt(tl.load(s_ptr + row) / N + 1e-5))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(40, 64)

    def forward(self, x):
        h = self.linear(x)
        squares = torch.bmm(h.unsqueeze(1), h.unsqueeze(2))
        out = torch.empty_like(h)
        scale[(h.shape[0],)](h, squares, out, h.shape[1])
        return out
