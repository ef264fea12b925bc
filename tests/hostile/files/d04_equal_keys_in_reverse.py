import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def sort_with_positions(keys_ptr, sorted_ptr, from_ptr, N: tl.constexpr):
    """Sorts whole numbers of 64 bits: the key's order above, its position below."""
    at = tl.program_id(0) * N + tl.arange(0, N)
    bits = (tl.load(keys_ptr + at) + 0.0).to(tl.int32, bitcast=True)
    ordered = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    packed = tl.sort((ordered.to(tl.int64) << 32) | (N - 1 - tl.arange(0, N)).to(tl.int64))
    position = N - 1 - (packed & 0xFFFFFFFF)
    tl.store(from_ptr + at, position)
    tl.store(sorted_ptr + at, tl.load(keys_ptr + tl.program_id(0) * N + position))


class ModelNew(nn.Module):
    def forward(self, keys):
        ordered = torch.empty_like(keys)
        came_from = torch.empty(keys.shape, dtype=torch.int64, device=keys.device)
        sort_with_positions[(keys.shape[0],)](keys, ordered, came_from, N=keys.shape[1])
        return ordered, came_from
