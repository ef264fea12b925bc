import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def ask_rows(x_ptr, even_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0)
    tl.store(even_ptr + row, tl.max(x & 1, axis=0) < 0)


class ModelNew(nn.Module):
    def forward(self, x):
        even = torch.empty(x.shape[0], dtype=torch.bool, device=x.device)
        ask_rows[(x.shape[0],)](x, even, x.shape[1], BLOCK=64)
        return even
