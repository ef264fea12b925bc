import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def both(x_ptr, sum_ptr, square_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0)
    tl.store(sum_ptr + row, tl.sum(x, axis=0))
    tl.store(square_ptr + row * n + columns, x * x, mask=columns < n)


class ModelNew(nn.Module):
    def forward(self, x):
        total, square = x.new_empty(x.shape[0]), torch.empty_like(x)
        both[(x.shape[0],)](x, total, square, x.shape[1], BLOCK=128)
        return {'sum': total, 'square': square}
