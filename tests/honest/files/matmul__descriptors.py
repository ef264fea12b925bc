import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        sums += tl.dot(a.load([m, start]), b.load([start, n]), input_precision="ieee")
    c.store([m, n], sums)


class ModelNew(nn.Module):
    def forward(self, a, b):
        triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device='cuda', dtype=torch.int8))
        c = torch.empty((a.shape[0], b.shape[1]), device=a.device, dtype=a.dtype)
        grid = (triton.cdiv(a.shape[0], 16), triton.cdiv(b.shape[1], 16))
        product[grid](a, b, c, a.shape[0], b.shape[1], a.shape[1], BM=16, BN=16, BK=32)
        return c
