import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def count(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + places, mask=places < columns, other=0.0)
    strange = (x != x) | (tl.abs(x) == float("inf"))
    tl.store(y_ptr + row, tl.sum(strange.to(tl.int64), axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
        count[(x.shape[0],)](x, y, x.shape[1], BLOCK=128)
        return y
