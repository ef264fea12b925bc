import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.heuristics({"EVEN": lambda given: given["n"] % 64 == 0})
@triton.autotune(configs=[triton.Config({"BLOCK": block}, num_warps=4) for block in (256, 1024)], key=["n"])
@triton.jit
def scale_relu(x_ptr, y_ptr, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    if EVEN:
        x = x * 1.5
    else:
        x = x + 0.5 * x
    tl.store(y_ptr + offsets, tl.maximum(x + 0.25, 0.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        scale_relu[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
        return y
