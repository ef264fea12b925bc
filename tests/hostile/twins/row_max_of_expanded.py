import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, b_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + columns, mask=mask, other=float("-inf")) + tl.load(b_ptr + columns, mask=mask, other=0.0)
    tl.store(y_ptr + row, tl.max(x, axis=0))


class ModelNew(nn.Module):
    def forward(self, x, b):
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        kernel[(x.shape[0],)](x, b, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
