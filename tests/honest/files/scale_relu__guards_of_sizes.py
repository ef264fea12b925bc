import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch.fx.experimental.symbolic_shapes import guard_or_false, guard_or_true, guard_size_oblivious


@triton.jit
def scale_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(y_ptr + offsets, tl.maximum(tl.load(x_ptr + offsets, mask=mask) * 1.5 + 0.25, 0.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        if guard_size_oblivious(x.numel() == 0):
            return y
        block = 512 if guard_or_true(x.shape[-1] > 1024) else 256
        if guard_or_false(x.stride(-1) != 1):
            x = x.contiguous()
        scale_relu[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), BLOCK=block)
        return y
