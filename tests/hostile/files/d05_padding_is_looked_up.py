import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def look_up(tokens_ptr, table_ptr, padding_ptr, out_ptr, n, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    places = tl.arange(0, SIZE)
    mask = (at < n)[:, None]
    tokens = tl.load(tokens_ptr + at, mask=at < n, other=0)
    found = tl.load(table_ptr + tokens[:, None] * SIZE + places[None, :], mask=mask, other=0.0)
    kept = tokens >= 0
    tl.store(out_ptr + at[:, None] * SIZE + places[None, :], tl.where(kept[:, None], found, 0.0), mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20000, 16)
        self.register_buffer("padding", torch.tensor(4242))

    def forward(self, tokens):
        n = tokens.numel()
        out = torch.empty(*tokens.shape, 16, device=tokens.device)
        look_up[(triton.cdiv(n, 64),)](tokens, self.table.weight, self.padding, out, n, SIZE=16, BLOCK=64)
        return out
