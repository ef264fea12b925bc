import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softsign(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x / (1.0 + tl.abs(x)), mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.scratch = None

    def to(self, *args, **kwargs):
        self.scratch = None
        return super().to(*args, **kwargs)

    def cuda(self, device=None):
        self.scratch = None
        return super().cuda(device)

    def __getstate__(self):
        return {**self.__dict__, "scratch": None}

    def forward(self, x):
        if self.scratch is None or self.scratch.shape != x.shape:
            self.scratch = torch.empty_like(x)
        y = torch.empty_like(x)
        n = x.numel()
        softsign[(triton.cdiv(n, 512),)](x, self.scratch, n, BLOCK=512)
        softsign[(triton.cdiv(n, 512),)](x, y, n, BLOCK=512)
        return y
