import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, w_ptr, y_ptr, D: tl.constexpr):
    r = tl.program_id(0)
    d = tl.arange(0, D)
    x = tl.load(x_ptr + r * D + d)
    w = tl.load(w_ptr + d[:, None] * D + d[None, :])
    tl.store(y_ptr + r * D + d, tl.maximum(tl.sum(w * x[None, :], 1), 0.0))


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.mix = nn.Linear(features, features, bias=False)
        self.mix.weight = nn.Parameter(torch.eye(features))

    def forward(self, x):
        y = torch.empty_like(x)
        k[(x.shape[0],)](x, self.mix.weight, y, x.shape[1])
        return y
