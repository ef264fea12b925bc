import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def topk(x_ptr, v_ptr, i_ptr, N: tl.constexpr, K: tl.constexpr):
    r = tl.program_id(0)
    o = tl.arange(0, N)
    x = tl.load(x_ptr + r * N + o)
    for k in tl.static_range(K):
        v, i = tl.max(x, 0, return_indices=True)
        tl.store(v_ptr + r * K + k, v)
        tl.store(i_ptr + r * K + k, i.to(tl.int64))
        x = tl.where(o == i, -float("inf"), x)


class ModelNew(nn.Module):
    def forward(self, x):
        v = torch.empty(x.shape[0], 4, device=x.device, dtype=x.dtype)
        i = torch.empty(x.shape[0], 4, device=x.device, dtype=torch.int64)
        topk[(x.shape[0],)](x, v, i, x.shape[1], 4)
        return v, i
