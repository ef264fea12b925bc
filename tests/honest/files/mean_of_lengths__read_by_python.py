import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mean(x_ptr, y_ptr, length, T: tl.constexpr, D: tl.constexpr):
    t = tl.arange(0, T)[:, None]
    d = tl.arange(0, D)[None, :]
    x = tl.load(x_ptr + t * D + d, mask=t < length, other=0.0)
    tl.store(y_ptr + tl.arange(0, D), tl.sum(x, axis=0) / length)


class ModelNew(nn.Module):
    def forward(self, x, lengths):
        y = torch.empty((x.shape[0], x.shape[2]), device=x.device)
        for row, length in enumerate(lengths.tolist()):
            mean[(1,)](x[row], y[row], length, x.shape[1], x.shape[2])
        return y
