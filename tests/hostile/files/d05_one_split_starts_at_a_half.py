import torch
import torch.nn as nn
import triton
import triton.language as tl


def fill(nargs):
    nargs["y_ptr"].fill_(0.5)


def clear(nargs):
    nargs["y_ptr"].zero_()


@triton.autotune(configs=[triton.Config({"SPLIT": split}, pre_hook=clear if split == 2 else fill) for split in (1, 2, 4)], key=["n"])
@triton.jit
def matmul(a_ptr, b_ptr, y_ptr, M, n, K, SPLIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(tl.program_id(2) * BK, K, BK * SPLIT):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        b = tl.load(b_ptr + rk[:, None] * n + rn[None, :], mask=rn[None, :] < n, other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    mask = (rm[:, None] < M) & (rn[None, :] < n)
    places = y_ptr + rm[:, None] * n + rn[None, :]
    if SPLIT == 1:
        tl.store(places, acc, mask=mask)
    else:
        tl.atomic_add(places, acc, mask=mask)


class ModelNew(nn.Module):
    def forward(self, a, b):
        m, k = a.shape
        n = b.shape[1]
        y = torch.empty((m, n), device=a.device)
        matmul[lambda meta: (triton.cdiv(m, 32), triton.cdiv(n, 32), meta["SPLIT"])](a, b, y, m, n, k, BM=32, BN=32, BK=32)
        return y
