import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def limit(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    length = tl.sum(tl.abs(x), axis=0)
    share = tl.where(length > 20000.0, 20000.0 / (length + 1e-7), 1.0)
    tl.store(out_ptr + row * n + columns, x * share, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        rows = x.numel() // x.shape[-1]
        limit[(rows,)](x, out, x.shape[-1], BLOCK=triton.next_power_of_2(x.shape[-1]))
        return out
