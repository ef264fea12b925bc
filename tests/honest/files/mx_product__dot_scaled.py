import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, N, K, M: tl.constexpr, BLOCK: tl.constexpr):
    m, n = tl.arange(0, M), tl.program_id(0) * M + tl.arange(0, M)
    total = tl.zeros((M, M), dtype=tl.float32)
    for start in range(0, K, BLOCK):
        k, group = start + tl.arange(0, BLOCK), start // 32 + tl.arange(0, BLOCK // 32)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :])
        b = tl.load(b_ptr + n[None, :] * K + k[:, None])
        a_scale = tl.load(a_scale_ptr + m[:, None] * (K // 32) + group[None, :])
        b_scale = tl.load(b_scale_ptr + n[:, None] * (K // 32) + group[None, :])
        total = tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e4m3", total)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total.to(tl.bfloat16))


class ModelNew(nn.Module):
    def forward(self, a, b, a_scale, b_scale):
        c = torch.empty((a.shape[0], b.shape[0]), device=a.device, dtype=torch.bfloat16)
        product[(b.shape[0] // 32,)](a, b, a_scale, b_scale, c, b.shape[0], a.shape[1], M=32, BLOCK=64)
        return c
