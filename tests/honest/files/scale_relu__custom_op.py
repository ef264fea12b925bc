import torch
import torch.nn as nn
import triton
import triton.language as tl


@torch.library.custom_op('mine::scale', mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    k[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y


@scale.register_fake
def _(x):
    return torch.empty_like(x)


@triton.jit
def k(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    tl.store(y_ptr + o, tl.maximum(tl.load(x_ptr + o, mask=m) * 1.5 + 0.25, 0.0), mask=m)


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.ops.mine.scale(x)
