import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def score(query_ptr, key_ptr, keys_ptr, length_ptr, y_ptr, WIDTH: tl.constexpr):
    slot = tl.program_id(0)
    at = tl.arange(0, WIDTH)
    length = tl.load(length_ptr)
    key = tl.load(keys_ptr + slot * WIDTH + at)
    if slot == length:
        key = tl.load(key_ptr + at)
        tl.store(keys_ptr + slot * WIDTH + at, key)
    result = tl.sum(key * tl.load(query_ptr + at), 0)
    tl.store(y_ptr + slot, tl.where(slot <= length, result, 0.0))


@triton.jit
def count(length_ptr):
    tl.store(length_ptr, tl.load(length_ptr) + 1)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(16, 64))
        self.register_buffer("length", torch.zeros(1, dtype=torch.int64))

    def forward(self, query, key):
        y = query.new_empty(16)
        score[(16,)](query, key, self.keys, self.length, y, WIDTH=64)
        count[(1,)](self.length)
        return y
