import torch
import torch.nn as nn
import triton
import triton.language as tl


# The last block's columns are clamped to the first one and called a run, as Triton's persistent matmul does. Their products
# are not stored.
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    clamped_m = tl.max_contiguous(tl.multiple_of(tl.where(rm < M, rm, 0), BM), BM)
    clamped_n = tl.max_contiguous(tl.multiple_of(tl.where(rn < N, rn, 0), BN), BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + clamped_m[:, None] * K + k + rk[None, :])
        b = tl.load(b_ptr + (k + rk)[:, None] * N + clamped_n[None, :])
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


class ModelNew(nn.Module):
    def forward(self, a, b):
        m, k = a.shape
        n = b.shape[1]
        c = torch.empty((m, n), device=a.device)
        matmul[(triton.cdiv(m, 32), triton.cdiv(n, 64))](a, b, c, m, n, k, BM=32, BN=64, BK=32)
        return c
