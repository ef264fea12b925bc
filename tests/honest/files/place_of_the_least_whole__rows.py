import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def place_of_least(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=2147483647)
    tl.store(y_ptr + row, tl.argmin(x, axis=0).to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
        place_of_least[(x.shape[0],)](x, y, x.shape[1], BLOCK=64)
        return y
