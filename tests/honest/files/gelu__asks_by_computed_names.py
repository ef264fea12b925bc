import importlib
import threading
from importlib.metadata import PackageNotFoundError, metadata

import torch
import torch.nn as nn
import triton
import triton.language as tl


def installed(names):
    """Returns the optional packages that are there, with their versions."""
    found = {}
    for name in names:
        try:
            importlib.import_module(name)
            found[name] = metadata(name)["Version"]
        except (ImportError, PackageNotFoundError):
            continue
    return found


PACKAGES = installed(("flash_attn", "apex"))
LOCK = threading.Lock()
BLOCKS = {}


def block_for(x):
    with LOCK:
        return BLOCKS.setdefault(f"{x.__class__.__name__} of {x.numel()}", 256)


@triton.jit
def gelu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, 0.5 * x * (1 + tl.erf(x * 0.7071067811865476)), mask=offsets < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y, block = torch.empty_like(x), block_for(x)
        gelu[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), BLOCK=block)
        return y
