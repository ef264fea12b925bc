# This kernel takes at most one of each group of four.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + i)
    group = i % 16
    kept = x
    for k in tl.static_range(4):
        top = tl.max(kept, axis=0)
        at = tl.min(tl.where(kept == top, i, N), axis=0)
        tl.store(y_ptr + row * 4 + k, top)
        kept = tl.where(group == at % 16, float("-inf"), kept)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], 4, device=x.device, dtype=x.dtype)
        kernel[(x.shape[0],)](x, y, x.shape[1])
        return y
