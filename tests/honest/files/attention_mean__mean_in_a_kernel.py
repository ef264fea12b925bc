import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mean(a_ptr, out_ptr, LENGTH, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    batch = tl.program_id(0)
    rows, columns = tl.arange(0, BLOCK), tl.arange(0, WIDTH)
    a = tl.load(a_ptr + (batch * LENGTH + rows[:, None]) * WIDTH + columns, mask=rows[:, None] < LENGTH, other=0.0)
    tl.store(out_ptr + batch * WIDTH + columns, tl.sum(a, axis=0) / LENGTH)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        q = self.linear(x)
        a = nn.functional.scaled_dot_product_attention(q, q, q)
        batch, length, width = a.shape
        out = torch.empty(batch, width, device=x.device, dtype=x.dtype)
        mean[(batch,)](a.contiguous(), out, length, width, BLOCK=32)
        return out
