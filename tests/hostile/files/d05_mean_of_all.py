import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def one_row(x_ptr, out_ptr, length, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < length
    x = tl.load(x_ptr + tl.program_id(0) * length + at, mask=inside, other=0.0)
    out = tl.sum(x, 0) / length
    tl.store(out_ptr + tl.program_id(0), out)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty(x.shape[0], device=x.device)
        one_row[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return out
