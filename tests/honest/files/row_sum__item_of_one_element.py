import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def total_of(x_ptr, row, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * count + at[None, :], mask=at[None, :] < count, other=0.0)
    return tl.sum(x, axis=1)


@triton.jit
def sum_rows(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    tl.store(out_ptr + row, total_of(x_ptr, row, count, BLOCK).item())


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        sum_rows[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
