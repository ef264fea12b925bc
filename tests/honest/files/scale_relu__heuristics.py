import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.heuristics({"BLOCK": lambda given: min(1024, triton.next_power_of_2(given["n"])), "EVEN": lambda given: given["n"] % 1024 == 0})
@triton.jit
def scale_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        x = tl.load(x_ptr + offsets)
        tl.store(y_ptr + offsets, tl.maximum(x * 1.5 + 0.25, 0.0))
    else:
        x = tl.load(x_ptr + offsets, mask=offsets < n)
        tl.store(y_ptr + offsets, tl.maximum(x * 1.5 + 0.25, 0.0), mask=offsets < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        scale_relu[lambda meta: (triton.cdiv(x.numel(), meta['BLOCK']),)](x, y, x.numel())
        return y
