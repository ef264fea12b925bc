import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def join(mean_a, square_a, count_a, mean_b, square_b, count_b):
    count = count_a + count_b
    share = tl.where(count > 0, count_b / tl.maximum(count, 1.0), 0.0)
    step = mean_b - mean_a
    return mean_a + step * share, square_a + square_b + step * step * count_a * share, count


@triton.jit
def norm(x_ptr, w_ptr, b_ptr, y_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    mean, square, count = tl.reduce((x, tl.zeros_like(x), mask.to(tl.float32)), 0, join)
    y = (x - mean) / tl.sqrt(square / n + eps)
    y = y * tl.load(w_ptr + columns, mask=mask) + tl.load(b_ptr + columns, mask=mask)
    tl.store(y_ptr + row * n + columns, y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        y = torch.empty_like(x)
        norm[(x.shape[0],)](x, self.norm.weight, self.norm.bias, y, x.shape[1], self.norm.eps, BLOCK=128)
        return y
