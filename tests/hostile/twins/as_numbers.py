import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i).to(tl.float32)
    tl.store(y_ptr + i, x * 0.5)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape, device=x.device, dtype=torch.float32)
        kernel[(x.shape[0],)](x, y, x.shape[1])
        return y
