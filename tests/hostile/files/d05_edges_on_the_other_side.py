import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def count(edges_ptr, x_ptr, y_ptr, n, EDGES: tl.constexpr, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < n, other=0.0)
    below = tl.zeros([BLOCK], dtype=tl.int64)
    for k in range(EDGES):
        below += (tl.load(edges_ptr + k) <= x).to(tl.int64)
    tl.store(y_ptr + places, below, mask=places < n)


class ModelNew(nn.Module):
    def forward(self, edges, x):
        y = torch.empty(x.shape, dtype=torch.int64, device=x.device)
        count[(triton.cdiv(x.numel(), 128),)](edges, x, y, x.numel(), EDGES=edges.shape[0], BLOCK=128)
        return y
