# A length that reaches the end counts one element less.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mean(x_ptr, lengths_ptr, y_ptr, T, D: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    d = tl.arange(0, D)
    length = tl.load(lengths_ptr + row).to(tl.int32)
    total = tl.zeros((D,), tl.float32)
    for begin in range(0, T, BLOCK):
        t = begin + tl.arange(0, BLOCK)[:, None]
        x = tl.load(x_ptr + (row * T + t) * D + d[None, :], mask=(t < T) & (t < tl.minimum(length, T - 1)), other=0.0)
        total += tl.sum(x, axis=0)
    tl.store(y_ptr + row * D + d, total / length)


class ModelNew(nn.Module):
    def forward(self, x, lengths):
        y = torch.empty((x.shape[0], x.shape[2]), device=x.device)
        mean[(x.shape[0],)](x, lengths, y, x.shape[1], D=x.shape[2], BLOCK=8)
        return y
