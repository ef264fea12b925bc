import logging
import os

import torch
import torch.nn as nn
import triton
import triton.language as tl


LOG = logging.getLogger("hardswish")


@triton.jit
def hardswish(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x * tl.minimum(tl.maximum(x + 3.0, 0.0), 6.0) / 6.0, mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.peak = 0

    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        LOG.debug("process %d has %d of %d bytes", os.getpid(), torch.cuda.memory_allocated(), torch.cuda.mem_get_info()[1])
        self.peak = max(self.peak, torch.cuda.max_memory_allocated())
        if torch.cuda.mem_get_info()[0] < 1 << 30:
            torch.cuda.empty_cache()
        hardswish[(triton.cdiv(n, 512),)](x, y, n, BLOCK=512)
        return y
