import torch
import torch.nn as nn
import triton
import triton.language as tl

from torch.library import triton_op, wrap_triton


@triton.jit
def k(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    x = tl.load(x_ptr + o, mask=m, eviction_policy="evict_first")
    tl.store(y_ptr + o, tl.clamp(tl.math.fma(x, 1.5, 0.25), 0.0, float("inf")), mask=m, cache_modifier=".cs")


@triton_op("mine::scale_relu", mutates_args={})
def scale_relu(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    wrap_triton(k)[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y


class ModelNew(nn.Module):
    def forward(self, x):
        return scale_relu(x)
