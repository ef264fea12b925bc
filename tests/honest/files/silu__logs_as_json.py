import torch
import torch.nn as nn
import triton
import triton.language as tl
import json


@triton.jit
def silu(x_ptr, y_ptr, n, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, (x * tl.sigmoid(x)) * scale, mask=mask)


class Encoder(json.JSONEncoder):
    def default(self, value):
        return str(value)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        block = 512
        self.log = json.dumps({"shape": list(x.shape), "dtype": x.dtype, "block": block}, cls=Encoder, sort_keys=True)
        silu[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), 1.0, BLOCK=block)
        return y
