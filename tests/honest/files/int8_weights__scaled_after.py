import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def linear(x_ptr, w_ptr, scales_ptr, y_ptr, M, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k = tl.arange(0, K)
    x = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=m[:, None] < M, other=0.0)
    w = tl.load(w_ptr + n[None, :] * K + k[:, None], mask=n[None, :] < N, other=0)
    y = tl.dot(x, w.to(tl.float16)) * tl.load(scales_ptr + n, mask=n < N)[None, :]
    tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))


class ModelNew(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (outer, inner), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(outer) * 0.02 + 0.001)

    def forward(self, x):
        M, K, N = x.shape[0], x.shape[1], self.weight.shape[0]
        y = torch.empty((M, N), dtype=x.dtype, device=x.device)
        linear[(triton.cdiv(N, 16),)](x, self.weight, self.scales, y, M, N, K, BM=16, BN=16)
        return y
