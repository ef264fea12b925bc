import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    tl.store(y_ptr + o, tl.maximum(tl.load(x_ptr + o, mask=m) * 1.5 + 0.25, 0.0), mask=m)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        s = torch.cuda.current_stream()
        with torch.cuda.stream(s):
            k[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y
