import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def is_in(x_ptr, wanted_ptr, found_ptr, N, count):
    at = tl.program_id(0) * 64 + tl.arange(0, 64)
    x = tl.load(x_ptr + at, mask=at < N, other=0)
    found = tl.zeros([64], tl.int1)
    for k in range(count):
        found = found | (x == tl.load(wanted_ptr + k))
    tl.store(found_ptr + at, found, mask=at < N)


class ModelNew(nn.Module):
    def forward(self, x, wanted):
        found = torch.empty(x.shape, dtype=torch.bool, device=x.device)
        is_in[(triton.cdiv(x.numel(), 64),)](x, wanted, found, x.numel(), wanted.numel())
        return found
