import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def write(keys_ptr, slots_ptr, cache_ptr, N: tl.constexpr):
    token = tl.program_id(0)
    at = tl.arange(0, N)
    slot = tl.load(slots_ptr + token)
    tl.store(cache_ptr + slot * N + at, tl.load(keys_ptr + token * N + at) * 0.5)


class ModelNew(nn.Module):
    def forward(self, keys, slots, cache):
        write[(keys.shape[0],)](keys, slots, cache, 128)
