import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def largest_of_row(x_ptr, lengths_ptr, y_ptr, rows, n, BLOCK: tl.constexpr):
    batch = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    is_in = places < tl.load(lengths_ptr + batch)
    x = tl.load(x_ptr + (batch * rows + places) * n + tl.program_id(1), mask=is_in, other=float("-inf"))
    tl.store(y_ptr + batch * n + tl.program_id(1), tl.where(tl.load(lengths_ptr + batch) == 0, 0.0, tl.max(x, axis=0)))


class ModelNew(nn.Module):
    def forward(self, x, lengths):
        batch, rows, n = x.shape
        y = torch.empty((batch, n), device=x.device)
        largest_of_row[(batch, n)](x, lengths, y, rows, n, BLOCK=16)
        return y
