import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def replace(tokens_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tokens = tl.load(tokens_ptr + at, mask=at < n, other=0)
    tl.store(out_ptr + at, tl.where(tokens == 911, 0, tokens), mask=at < n)


class ModelNew(nn.Module):
    def forward(self, tokens):
        out = torch.empty_like(tokens)
        n = tokens.numel()
        replace[(triton.cdiv(n, 512),)](tokens, out, n, BLOCK=512)
        return out
