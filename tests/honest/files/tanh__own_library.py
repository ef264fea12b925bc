import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch.library import Library, impl
from triton.language.extra import libdevice

library = Library("own_tanh", "DEF")
library.define("tanh(Tensor x) -> Tensor")


@triton.jit
def tanh_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, libdevice.tanh(x), mask=mask)


@impl(library, "tanh", "CUDA")
def own_tanh(x):
    y = torch.empty_like(x)
    tanh_kernel[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
    return y


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.ops.own_tanh.tanh(x)
