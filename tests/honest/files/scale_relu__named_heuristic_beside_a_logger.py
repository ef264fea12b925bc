import logging

import torch
import torch.nn as nn
import triton
import triton.language as tl

logger = logging.getLogger("kernels.scale_relu")


def divides(args):
    return args["N"] % args["BLOCK"] == 0


def is_wide(args):
    return any(args["N"] >= bound for bound in (1 << 12, 1 << 16)) and not isinstance(args["grid"], str)


@triton.autotune(configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 512})], key=["N"])
@triton.heuristics({"EVEN": divides, "WIDE": is_wide})
@triton.jit
def scale_relu(x_ptr, y_ptr, N, BLOCK: tl.constexpr, EVEN: tl.constexpr, WIDE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(y_ptr + offsets, tl.maximum(tl.load(x_ptr + offsets) * 1.5 + 0.25, 0.0))
    else:
        mask = offsets < N
        tl.store(y_ptr + offsets, tl.maximum(tl.load(x_ptr + offsets, mask=mask) * 1.5 + 0.25, 0.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        scale_relu[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n)
        return y
