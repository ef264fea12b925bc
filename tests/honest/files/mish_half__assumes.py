import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mish(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    o = pid * BLOCK + tl.arange(0, BLOCK)
    o = tl.max_contiguous(tl.multiple_of(o, BLOCK), BLOCK)
    m = o < n
    tl.assume(n > 0)
    x = tl.load(x_ptr + o, mask=m, other=0.0, eviction_policy="evict_first").to(tl.float32)
    sp = tl.where(x > 20.0, x, tl.log(1.0+tl.exp(x)))
    tl.store(y_ptr + o, ((2 * tl.sigmoid(2 * sp) - 1) * x).to(tl.float16), mask=m, cache_modifier=".cs")


class ModelNew(nn.Module):
    def forward(self, x):
        assert x.is_cuda and x.is_contiguous()
        y = torch.empty_like(x)
        n = x.numel()
        with torch.cuda.device(x.device):
            mish[(triton.cdiv(n, 256),)](x, y, n, BLOCK=256, num_warps=4)
        return y
