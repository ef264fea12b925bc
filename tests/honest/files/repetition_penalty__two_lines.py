import torch
import torch.nn as nn
import triton
import triton.language as tl


# After the division a number stays positive, so the second line leaves it as it is.
@triton.jit
def penalize(logits_ptr, repeated_ptr, penalty_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = at < columns
    penalty = tl.load(penalty_ptr + row)
    repeated = tl.load(repeated_ptr + row * columns + at, mask=inside, other=0) != 0
    logits = tl.load(logits_ptr + row * columns + at, mask=inside)
    logits = tl.where(repeated & (logits > 0), logits / penalty, logits)
    logits = tl.where(repeated & (logits <= 0), logits * penalty, logits)
    tl.store(out_ptr + row * columns + at, logits, mask=inside)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("penalty", torch.rand(24) + 1)

    def forward(self, logits, is_repeated):
        rows, columns = logits.shape
        out = torch.empty_like(logits)
        penalize[(rows, triton.cdiv(columns, 128))](logits, is_repeated, self.penalty, out, columns, BLOCK=128)
        return out
