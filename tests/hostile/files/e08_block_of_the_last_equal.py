import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def find(x_ptr, values_ptr, places_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best = float("-inf")
    place = 0
    for first in range(0, n, BLOCK):
        columns = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=float("-inf")) - 0.25
        value, index = tl.max(x, axis=0, return_indices=True)
        place = tl.where(value >= best, first + index, place)
        best = tl.maximum(best, value)
    tl.store(values_ptr + row, best)
    tl.store(places_ptr + row, place)


class ModelNew(nn.Module):
    def forward(self, x):
        values = torch.empty(x.shape[0], device=x.device)
        places = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
        find[(x.shape[0],)](x, values, places, x.shape[1], BLOCK=64)
        return values, places
