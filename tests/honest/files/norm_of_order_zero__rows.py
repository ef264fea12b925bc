import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def reduce_rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0)
    counts = mask & (x != 0)
    tl.store(y_ptr + row, tl.sum(counts.to(tl.float32), axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        n = x.shape[-1]
        y = torch.empty(x.shape[0], device=x.device)
        reduce_rows[(x.numel() // n,)](x, y, n, BLOCK=128)
        return y
