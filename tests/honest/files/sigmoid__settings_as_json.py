import torch
import torch.nn as nn
import triton
import triton.language as tl
import json


@triton.jit
def sigmoid(x_ptr, y_ptr, n, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.sigmoid(x) * scale, mask=mask)


SETTINGS = json.loads('{"block": 256, "warps": 4, "scale": 1.0}')


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        sigmoid[(triton.cdiv(x.numel(), SETTINGS["block"]),)](
            x, y, x.numel(), SETTINGS["scale"], BLOCK=SETTINGS["block"], num_warps=SETTINGS["warps"])
        return y
