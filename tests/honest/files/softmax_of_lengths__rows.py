import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x_ptr, lengths_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    is_in = places < tl.load(lengths_ptr + row)
    x = tl.load(x_ptr + row * n + places, mask=is_in, other=float("-inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n + places, e / tl.sum(e, axis=0), mask=places < n)


class ModelNew(nn.Module):
    def forward(self, x, lengths):
        y = torch.empty_like(x)
        softmax_rows[(x.shape[0],)](x, lengths, y, x.shape[1], BLOCK=32)
        return y
