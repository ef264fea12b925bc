import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def partial(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + offsets, mask=offsets < n, other=0.0), axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        blocks = triton.cdiv(x.numel(), 512)
        parts = torch.empty(blocks, device=x.device, dtype=x.dtype)
        partial[(blocks,)](x, parts, x.numel(), BLOCK=512)
        y = torch.empty(1, device=x.device, dtype=x.dtype)
        partial[(1,)](parts, y, blocks, BLOCK=triton.next_power_of_2(blocks))
        return y.reshape(())
