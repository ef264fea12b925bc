import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def all_of(held_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    held = tl.load(held_ptr + offsets, mask=offsets < n - 1, other=1).to(tl.int32)
    tl.store(y_ptr, tl.min(held, axis=0) != 0)


class ModelNew(nn.Module):
    def forward(self, held):
        y = torch.empty((), dtype=torch.bool, device=held.device)
        all_of[(1,)](held, y, held.numel(), BLOCK=triton.next_power_of_2(held.numel()))
        return y
