import torch
import torch.distributed as dist
import torch.nn as nn
import triton
import triton.language as tl
from torch.distributed.tensor import DTensor


@triton.jit
def leaky_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.where(x > 0, x, x * 0.01), mask=mask)


def world_size():
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def ensure_contiguous(x):
    if isinstance(x, DTensor):
        x = x.full_tensor()
    return x.contiguous()


class ModelNew(nn.Module):
    def forward(self, x):
        x = ensure_contiguous(x)
        assert world_size() == 1 and type(x) is torch.Tensor
        y = torch.empty_like(x)
        leaky_relu[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
        return y
