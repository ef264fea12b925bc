import gc
import logging
import os
import sys
import traceback
import warnings

os.environ.setdefault("TRITON_CACHE_DIR", "/tmp/triton_cache")

import torch
import torch.nn as nn
import triton
import triton.language as tl

logging.basicConfig(stream=sys.stderr, level=logging.INFO)
logger = logging.getLogger(__name__)
logger.addHandler(logging.StreamHandler(sys.stderr))
triton.knobs.autotuning.print = True


@triton.jit
def scale_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(y_ptr + offsets, tl.maximum(tl.load(x_ptr + offsets, mask=mask) * 1.5 + 0.25, 0.0), mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        gc.collect()
        if not torch.cuda.is_available():
            warnings.warn("no GPU was found")
        sys.stderr.write("scale_relu is ready\n")
        sys.stdout.flush()

    def forward(self, x):
        y = torch.empty_like(x)
        try:
            scale_relu[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        except RuntimeError:
            print("the kernel failed", file=sys.stderr, flush=True)
            traceback.print_exc()
            raise
        return y
