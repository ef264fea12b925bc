import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def find(x_ptr, edges_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0), axis=0)
    below = 0
    for edge in range(0, 4):
        below += (tl.load(edges_ptr + edge) < total).to(tl.int32)
    tl.store(out_ptr + row, below.to(tl.int64))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("edges", torch.tensor([-40000.0, -3.0, 3.0, 40000.0]))

    def forward(self, x):
        rows, n = x.shape
        out = torch.empty(rows, dtype=torch.int64, device=x.device)
        find[(rows,)](x, self.edges, out, n, BLOCK=triton.next_power_of_2(n))
        return out
