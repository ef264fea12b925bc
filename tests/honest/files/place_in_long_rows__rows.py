import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def largest(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + places, mask=places < columns, other=-9223372036854775808)
    tl.store(y_ptr + row, tl.argmax(x, axis=0).to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
        largest[(x.shape[0],)](x, y, x.shape[1], BLOCK=2048)
        return y
