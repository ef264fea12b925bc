import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, z_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = row * N + tl.arange(0, N)
    tl.store(z_ptr + i, tl.load(x_ptr + i).to(tl.float32) * tl.load(y_ptr + i).to(tl.float32))


class ModelNew(nn.Module):
    def forward(self, x, y):
        z = torch.empty(x.shape, device=x.device, dtype=torch.float32)
        kernel[(x.shape[0],)](x, y, z, x.shape[1])
        return z
