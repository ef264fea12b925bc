import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def largest(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=float("-inf"))
    tl.atomic_max(y_ptr + row, tl.max(x, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.full((x.shape[0],), -3000.0, device=x.device)
        largest[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
