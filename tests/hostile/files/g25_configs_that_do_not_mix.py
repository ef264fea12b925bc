import torch
import torch.nn as nn
import triton
import triton.language as tl

CONFIGS = [triton.Config({"SCALE": 1}), triton.Config({"SCALE": 4})]


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def scale(x_ptr, z_ptr, n, BLOCK: tl.constexpr, SCALE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(z_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * (1.5 * SCALE), mask=mask)


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def shift_relu(z_ptr, y_ptr, n, BLOCK: tl.constexpr, SCALE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    z = tl.load(z_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.maximum(z / SCALE + 0.25, 0.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y, z = torch.empty_like(x), torch.empty_like(x)
        grid = (triton.cdiv(x.numel(), 1024),)
        scale[grid](x, z, x.numel(), BLOCK=1024)
        shift_relu[grid](z, y, x.numel(), BLOCK=1024)
        return y
