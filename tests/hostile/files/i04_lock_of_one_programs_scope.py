import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sum_rows(x_ptr, y_ptr, lock_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + row * n + offsets, mask=offsets < n, other=0.0), axis=0)
    while tl.atomic_cas(lock_ptr + row, 0, 1) == 1:
        pass
    tl.store(y_ptr + row, tl.load(y_ptr + row) + total)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr + row, 0, scope="cta")


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        y = torch.zeros(rows, device=x.device)
        lock = torch.zeros(rows, device=x.device, dtype=torch.int32)
        sum_rows[(rows, triton.cdiv(n, 32))](x, y, lock, n, BLOCK=32)
        return y
