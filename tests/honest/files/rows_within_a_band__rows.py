import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def ask_rows(x_ptr, within_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    tl.store(within_ptr + row, tl.min(((x > -3) & (x < 3)).to(tl.int32), axis=0) != 0)


class ModelNew(nn.Module):
    def forward(self, x):
        within = torch.empty(x.shape[:-1], dtype=torch.bool, device=x.device)
        n = x.shape[-1]
        ask_rows[(x.numel() // n,)](x, within, n, BLOCK=64)
        return within
