import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def log_softmax(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=-float("inf"))
    x = x - tl.max(x, axis=0)
    tl.store(y_ptr + row * n + columns, x - tl.log(tl.sum(tl.exp(x), axis=0)), mask=columns < n)


class ModelNew(nn.Module):
    def forward(self, x):
        flat = x.contiguous().view(-1, x.shape[-1])
        y = torch.empty_like(flat)
        log_softmax[(flat.shape[0],)](flat, y, flat.shape[1], BLOCK=64)
        return y.view(x.shape)
