import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sum_rows(x_ptr, t_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(t_ptr + row * n + offsets, tl.load(x_ptr + row * n + offsets, mask=mask), mask=mask)
    tl.debug_barrier()
    x = tl.load(t_ptr + row * n + offsets, mask=mask, other=0.0)
    tl.store(y_ptr + row, tl.sum(x, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device)
        rows, n = x.shape
        sum_rows[(rows,)](x, torch.empty_like(x), y, n, BLOCK=triton.next_power_of_2(n))
        return y
