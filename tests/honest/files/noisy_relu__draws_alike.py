import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def noisy_relu(x_ptr, noise_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    noise = tl.load(noise_ptr + at, mask=at < n)
    tl.store(y_ptr + at, tl.maximum(x + noise, 0.0), mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        noise = torch.rand(x.shape, device=x.device)
        y = torch.empty_like(x)
        n = x.numel()
        noisy_relu[(triton.cdiv(n, 1024),)](x, noise, y, n, BLOCK=1024)
        return y
