import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scan(x_ptr, y_ptr, total_ptr, until_ptr, state_ptr, n, BLOCK: tl.constexpr):
    part = tl.program_id(0)
    offsets = part * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    total = tl.sum(x, axis=0)
    tl.store(total_ptr + part, total)
    tl.debug_barrier()
    tl.atomic_xchg(state_ptr + part, 1, sem="release", scope="cta")
    before = 0.0
    back = part - 1
    while back >= 0:
        state = tl.atomic_add(state_ptr + back, 0, sem="acquire", scope="cta")
        while state == 0:
            state = tl.atomic_add(state_ptr + back, 0, sem="acquire", scope="cta")
        if state == 2:
            before += tl.load(until_ptr + back)
            back = -1
        else:
            before += tl.load(total_ptr + back)
            back -= 1
    tl.store(until_ptr + part, before + total)
    tl.debug_barrier()
    tl.atomic_xchg(state_ptr + part, 2, sem="release", scope="cta")
    tl.store(y_ptr + offsets, before + tl.cumsum(x, axis=0), mask=offsets < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        parts = triton.cdiv(x.numel(), 16)
        total = torch.empty(parts, device=x.device)
        until = torch.empty(parts, device=x.device)
        state = torch.zeros(parts, device=x.device, dtype=torch.int32)
        scan[(parts,)](x, y, total, until, state, x.numel(), BLOCK=16)
        return y
