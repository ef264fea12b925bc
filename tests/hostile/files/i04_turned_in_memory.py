import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def turn(x_ptr, kept_ptr, out_ptr, N: tl.constexpr):
    row = tl.program_id(0) * N
    i = tl.arange(0, N)
    x = tl.load(x_ptr + row + i)
    tl.store(kept_ptr + row + i, x * 2)
    turned = tl.load(kept_ptr + row + N - 1 - i)
    tl.store(out_ptr + row + i, turned + x)


class ModelNew(nn.Module):
    def forward(self, x):
        kept, out = torch.empty_like(x), torch.empty_like(x)
        turn[(x.shape[0],)](x, kept, out, x.shape[1])
        return out
