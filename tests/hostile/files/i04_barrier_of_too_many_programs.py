import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def share(x_ptr, y_ptr, sum_ptr, count_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.atomic_add(sum_ptr, tl.sum(x, axis=0))
    tl.atomic_add(count_ptr, 1)
    while tl.atomic_add(count_ptr, 0) < tl.num_programs(0):
        pass
    tl.store(y_ptr + offsets, x / tl.atomic_add(sum_ptr, 0.0))


class ModelNew(nn.Module):
    def forward(self, x):
        y, total = torch.empty_like(x), torch.zeros(1, device=x.device)
        count = torch.zeros(1, dtype=torch.int32, device=x.device)
        share[(x.numel() // 16,)](x, y, total, count, BLOCK=16)
        return y
