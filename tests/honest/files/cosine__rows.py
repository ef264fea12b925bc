import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def cosine(x_ptr, t_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0)
    t = tl.load(t_ptr + row * n + columns, mask=columns < n, other=0.0)
    norm = tl.maximum(tl.sqrt(tl.sum(x * x, axis=0)), 1e-8) * tl.maximum(tl.sqrt(tl.sum(t * t, axis=0)), 1e-8)
    tl.store(y_ptr + row, tl.sum(x * t, axis=0) / norm)


class ModelNew(nn.Module):
    def forward(self, x, target):
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        cosine[(x.shape[0],)](x, target, y, x.shape[1], BLOCK=64)
        return y
