import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_k(x_ptr, y_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    x = tl.load(x_ptr + i, mask=m)
    tl.store(y_ptr + i, tl.where(x > 0, x, 0.0).to(x.dtype), mask=m)


def trelu(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    relu_k[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), B=1024)
    return y


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.edges = nn.Parameter(torch.linspace(-2, 2, 9), requires_grad=False)

    def forward(self, x):
        return trelu((x[..., None] > self.edges).sum(-1).float() - 3)
