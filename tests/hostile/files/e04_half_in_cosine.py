import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def cosine_of_sum(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0)
    tl.store(y_ptr + row, tl.cos(3.0 * tl.sum(x.to(tl.float16).to(tl.float32), axis=0)))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        cosine_of_sum[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
