import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + i)
    for k in tl.static_range(4):
        top = tl.max(x, axis=0)
        at = tl.min(tl.where(x == top, i, N), axis=0)
        tl.store(y_ptr + row * 4 + k, top)
        x = tl.where(i == at, float("-inf"), x)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], 4, device=x.device, dtype=x.dtype)
        kernel[(x.shape[0],)](x, y, x.shape[1])
        return y
