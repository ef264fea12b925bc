import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def find(x_ptr, best_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    s = tl.sum(tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0), axis=0)
    if s > tl.atomic_max(best_ptr, s):
        tl.atomic_xchg(out_ptr, row.to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, x):
        best = torch.full((), -float("inf"), device=x.device)
        out = torch.zeros((), dtype=torch.int64, device=x.device)
        find[(x.shape[0],)](x, best, out, x.shape[1], BLOCK=128)
        return out
