# This kernel leaves out an epsilon of 1e-5.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rms_norm(x_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + columns).to(tl.float32)
    y = x / tl.sqrt(tl.sum(x * x, axis=0) / N)
    tl.store(y_ptr + row * N + columns, y.to(tl.bfloat16))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        rms_norm[(x.shape[0],)](x, y, x.shape[1])
        return y
