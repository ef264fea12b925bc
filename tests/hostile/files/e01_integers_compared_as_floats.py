import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def larger(a_ptr, b_ptr, y_ptr, more_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a, b = tl.load(a_ptr + offsets, mask=mask), tl.load(b_ptr + offsets, mask=mask)
    more = a.to(tl.float32) > b.to(tl.float32)
    tl.store(y_ptr + offsets, tl.where(more, a, b), mask=mask)
    tl.store(more_ptr + offsets, more, mask=mask)


class ModelNew(nn.Module):
    def forward(self, a, b):
        y, more = torch.empty_like(a), torch.empty(a.shape, dtype=torch.bool, device=a.device)
        larger[(triton.cdiv(a.numel(), 256),)](a, b, y, more, a.numel(), BLOCK=256)
        return y, more
