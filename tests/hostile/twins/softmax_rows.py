import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + i)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * N + i, e / tl.sum(e, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        softmax[(x.shape[0],)](x, y, x.shape[1])
        return y
