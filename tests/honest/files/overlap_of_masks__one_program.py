import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def overlap(p_ptr, m_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    both = tl.zeros([BLOCK], tl.float32)
    all_of = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        p = tl.load(p_ptr + at, mask=at < n, other=0.0)
        m = tl.load(m_ptr + at, mask=at < n, other=0.0)
        both += p * m
        all_of += p + m
    tl.store(out_ptr, 1 - (2 * tl.sum(both, axis=0) + eps) / (tl.sum(all_of, axis=0) + eps))


class ModelNew(nn.Module):
    def forward(self, p, m):
        out = torch.empty((), device=p.device)
        overlap[(1,)](p, m, out, p.numel(), 1e-5, BLOCK=1024)
        return out
