import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scan(x_ptr, y_ptr, until_ptr, ready_ptr, n, BLOCK: tl.constexpr):
    part = tl.program_id(0)
    offsets = part * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    while tl.load(ready_ptr + part, volatile=True) == 0:
        pass
    before = tl.load(until_ptr + part)
    tl.store(until_ptr + part + 1, before + tl.sum(x, axis=0))
    tl.debug_barrier()
    tl.atomic_xchg(ready_ptr + part + 1, 1)
    tl.store(y_ptr + offsets, before + tl.cumsum(x, axis=0), mask=offsets < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        parts = triton.cdiv(x.numel(), 16)
        until = torch.zeros(parts + 1, device=x.device)
        ready = torch.zeros(parts + 1, device=x.device, dtype=torch.int32)
        ready[:1].copy_(torch.ones(1, device=x.device, dtype=torch.int32))
        scan[(parts,)](x, y, until, ready, x.numel(), BLOCK=16)
        return y
