import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def norm_rows(x_ptr, w_ptr, b_ptr, y_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    centered = tl.where(mask, x - tl.sum(x, axis=0) / n, 0.0)
    variance = tl.sum(centered * centered, axis=0) / n
    y = centered / tl.sqrt(variance + eps) * tl.load(w_ptr + columns, mask=mask) + tl.load(b_ptr + columns, mask=mask)
    tl.store(y_ptr + row * n + columns, y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        norm = nn.LayerNorm(features)
        scale, shift = torch.ones(features), torch.zeros(features)
        self.w = nn.Parameter((norm.weight * scale).detach())
        self.b = nn.Parameter((norm.bias * scale + shift).detach())

    def forward(self, x):
        y = torch.empty_like(x)
        norm_rows[(x.shape[0],)](x, self.w, self.b, y, x.shape[1], 1e-5, BLOCK=128)
        return y
