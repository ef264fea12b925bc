import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def ask(held_ptr, any_ptr, all_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    held = tl.load(held_ptr + row * n + columns, mask=mask, other=0).to(tl.int32)
    any_held = tl.max(tl.where(columns < n - 1, held, 0), axis=0)
    all_held = tl.min(tl.where(mask, held, 1), axis=0)
    tl.store(any_ptr + row, any_held != 0)
    tl.store(all_ptr + row, all_held != 0)


class ModelNew(nn.Module):
    def forward(self, held):
        rows, n = held.shape
        any_held = torch.empty(rows, dtype=torch.bool, device=held.device)
        all_held = torch.empty_like(any_held)
        ask[(rows,)](held, any_held, all_held, n, BLOCK=128)
        return any_held, all_held
