import torch
import torch.nn as nn
import torch.nn.functional as F
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
        self.p = nn.Parameter(torch.zeros(4, 16))
        self.p.data[0] = 1
        self.p.data[2] = 1

    def forward(self, x):
        x = F.layer_norm(x, (16,), self.p[0], self.p[1])
        x = torch.tanh(x)
        x = F.layer_norm(x, (16,), self.p[2], self.p[3])
        return trelu(x)
