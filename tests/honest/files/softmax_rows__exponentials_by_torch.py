import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def divide(e_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    e = tl.load(e_ptr + row * N + i)
    tl.store(y_ptr + row * N + i, e / tl.sum(e, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        e = torch.exp(x - x.amax(-1, keepdim=True))
        y = torch.empty_like(x)
        divide[(x.shape[0],)](e, y, x.shape[1])
        return y
