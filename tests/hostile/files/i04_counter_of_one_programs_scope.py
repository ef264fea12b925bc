import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sum_rows(x_ptr, part_ptr, count_ptr, y_ptr, n, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    part = tl.program_id(1)
    offsets = part * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offsets, mask=offsets < n, other=0.0)
    tl.store(part_ptr + row * PARTS + part, tl.sum(x, axis=0))
    tl.debug_barrier()
    seen = tl.atomic_add(count_ptr + row, 1, sem="acq_rel", scope="cta")
    if seen == PARTS - 1:
        parts = tl.load(part_ptr + row * PARTS + tl.arange(0, PARTS))
        tl.store(y_ptr + row, tl.sum(parts, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        y = torch.empty(rows, device=x.device)
        parts = torch.empty(rows, 8, device=x.device)
        count = torch.zeros(rows, device=x.device, dtype=torch.int32)
        block = triton.next_power_of_2(triton.cdiv(n, 8))
        sum_rows[(rows, 8)](x, parts, count, y, n, PARTS=8, BLOCK=block)
        return y
