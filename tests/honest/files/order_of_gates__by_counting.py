import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rank(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=float("-inf"))
    gate = 1 / (1 + tl.exp(-60.0 * x))
    mine, other = gate[:, None], gate[None, :]
    first = (other > mine) | ((other == mine) & (at[None, :] > at[:, None]))
    place = tl.sum(tl.where(first & (at[None, :] < n), 1, 0), axis=1)
    tl.store(out_ptr + row * n + place, at.to(tl.int64), mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        out = torch.empty(rows, n, dtype=torch.int64, device=x.device)
        rank[(rows,)](x, out, n, BLOCK=triton.next_power_of_2(n))
        return out
