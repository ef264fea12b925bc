import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def product(x_ptr, w_ptr, scale_ptr, y_ptr, N, K: tl.constexpr, M: tl.constexpr):
    m, n = tl.arange(0, M), tl.program_id(0) * M + tl.arange(0, M)
    k, byte, group = tl.arange(0, K), tl.arange(0, K // 2), tl.arange(0, K // 32)
    x = tl.load(x_ptr + m[:, None] * K + k[None, :])
    w = tl.load(w_ptr + n[None, :] * (K // 2) + byte[:, None])
    scale = tl.load(scale_ptr + n[:, None] * (K // 32) + group[None, :])
    y = tl.dot_scaled(x, None, "bf16", w, scale, "e2m1")
    tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(tl.bfloat16))


class ModelNew(nn.Module):
    def forward(self, x, packed, scale):
        y = torch.empty((x.shape[0], packed.shape[0]), device=x.device, dtype=torch.bfloat16)
        product[(packed.shape[0] // 32,)](x, packed, scale, y, packed.shape[0], K=x.shape[1], M=32)
        return y
