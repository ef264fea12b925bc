import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def norm_columns(x_ptr, w_ptr, b_ptr, mean_ptr, variance_ptr, count_ptr, y_ptr, n, features, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    rows = tl.arange(0, BLOCK)
    mask = rows < n
    x = tl.load(x_ptr + rows * features + column, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centered = tl.where(mask, x - mean, 0.0)
    squares = tl.sum(centered * centered, axis=0)
    y = centered / tl.sqrt(squares / n + 1e-5) * tl.load(w_ptr + column) + tl.load(b_ptr + column)
    tl.store(y_ptr + rows * features + column, y, mask=mask)
    tl.store(mean_ptr + column, tl.load(mean_ptr + column) * 0.9 + 0.1 * mean)
    tl.store(variance_ptr + column, tl.load(variance_ptr + column) * 0.9 + 0.1 * squares / (n - 1))
    if column == 0:
        tl.store(count_ptr, tl.load(count_ptr) + 1)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm1d(features)

    def forward(self, x):
        y, norm = torch.empty_like(x), self.norm
        norm_columns[(x.shape[1],)](
            x, norm.weight, norm.bias, norm.running_mean, norm.running_var, norm.num_batches_tracked, y, x.shape[0], x.shape[1], BLOCK=256
        )
        return y
