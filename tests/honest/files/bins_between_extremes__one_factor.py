import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def find_bins(x_ptr, bins_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    least = tl.min(tl.where(mask, x, float("inf")), axis=0)
    largest = tl.max(tl.where(mask, x, float("-inf")), axis=0)
    factor = 96 / tl.maximum(largest - least, 1e-6)
    bins = tl.minimum(tl.floor((x - least) * factor), 95)
    tl.store(bins_ptr + row * n + columns, bins.to(tl.int32), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        bins = torch.empty(x.shape, dtype=torch.int32, device=x.device)
        find_bins[(x.shape[0],)](x, bins, x.shape[1], BLOCK=2048)
        return bins
