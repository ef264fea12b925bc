import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def lse(a, b):
    m = tl.maximum(a, b)
    return m + tl.log(tl.exp(a - m) + tl.exp(b - m))


@triton.jit
def k(x_ptr, e_ptr, y_ptr, h_ptr, N: tl.constexpr, E: tl.constexpr, EB: tl.constexpr):
    r = tl.program_id(0)
    o = tl.arange(0, N)
    x = tl.load(x_ptr + r * N + o)
    tl.store(y_ptr + r * N + o, tl.associative_scan(x, 0, lse))
    e = tl.load(e_ptr + tl.arange(0, E))
    b = tl.sum((e[None, :] < x[:, None]).to(tl.int32), 1)
    h = tl.histogram(b, EB)
    i = tl.arange(0, EB)
    tl.store(h_ptr + r * (E + 1) + i, h.to(tl.int64), mask=i < E + 1)


class ModelNew(nn.Module):
    def forward(self, x, edges):
        y = torch.empty_like(x)
        h = torch.empty(x.shape[0], edges.shape[0] + 1, device=x.device, dtype=torch.int64)
        k[(x.shape[0],)](x, edges, y, h, x.shape[1], edges.shape[0], 16)
        return y, h
