import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(a_ptr, y_ptr, N: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, N)
    tl.store(y_ptr + b * N + i, tl.sqrt(tl.load(a_ptr + b * N * N + i * N + i)))


class ModelNew(nn.Module):
    def forward(self, a):
        y = torch.empty(a.shape[:2], device=a.device, dtype=a.dtype)
        kernel[(a.shape[0],)](a, y, a.shape[1])
        return y
