import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(a_ptr, b_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    a = tl.load(a_ptr + row * columns + offsets, mask=mask, other=float("-inf"))
    b = tl.load(b_ptr + row * columns + offsets, mask=mask, other=0.0)
    largest = tl.max(a - b, axis=0)
    tl.store(y_ptr + row, tl.where(largest > 0, largest, largest * 0.01))


class ModelNew(nn.Module):
    def forward(self, a, b):
        y = torch.empty(a.shape[:1], device=a.device, dtype=a.dtype)
        kernel[(a.shape[0],)](a, b, y, a.shape[1], BLOCK=triton.next_power_of_2(a.shape[1]))
        return y
