import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch.export._trace import custom_triton_ops_decomposition_disabled


@triton.jit
def sigmoid(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.sigmoid(x), mask=mask)


@torch.library.triton_op("own_kernels::sigmoid", mutates_args=())
def own_sigmoid(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    torch.library.wrap_triton(sigmoid)[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
    return y


class ModelNew(nn.Module):
    def forward(self, x):
        assert not custom_triton_ops_decomposition_disabled()
        return torch.ops.own_kernels.sigmoid(x)
