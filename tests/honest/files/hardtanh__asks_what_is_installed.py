import importlib.util
import logging
import os

import torch
import torch.nn as nn
import triton
import triton.language as tl

try:
    import apex
except ImportError:
    apex = None

HAS_FLASH = importlib.util.find_spec("flash_attn") is not None
os.environ.setdefault("TRITON_PRINT_AUTOTUNING", "0")
BLOCK = int(os.environ.get("HARDTANH_BLOCK", "512"))
log = logging.getLogger(__name__)


@triton.jit
def hardtanh(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.clamp(x, -1.0, 1.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        if apex is not None and hasattr(apex, "hardtanh"):
            return apex.hardtanh(x)
        log.debug("flash attention: %s", HAS_FLASH)
        y = torch.empty_like(x)
        hardtanh[(triton.cdiv(x.numel(), BLOCK),)](x, y, x.numel(), BLOCK=BLOCK)
        return y
