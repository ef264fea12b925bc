import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mean(x_ptr, lengths_ptr, y_ptr, T: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0)
    t = tl.arange(0, T)[:, None]
    d = tl.arange(0, D)[None, :]
    length = tl.load(lengths_ptr + row)
    x = tl.load(x_ptr + row * T * D + t * D + d, mask=t < length, other=0.0)
    tl.store(y_ptr + row * D + tl.arange(0, D), tl.sum(x, axis=0) / length)


class ModelNew(nn.Module):
    def forward(self, x, lengths):
        y = torch.empty((x.shape[0], x.shape[2]), device=x.device)
        mean[(x.shape[0],)](x, lengths, y, x.shape[1], x.shape[2])
        return y
