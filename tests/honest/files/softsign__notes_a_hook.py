import logging

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


log = logging.getLogger("softsign")


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        handle = self.register_forward_hook(lambda *what: None)
        log.debug("hook %d of %s", handle.id, log.name)
        softsign[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
        handle.remove()
        return y
