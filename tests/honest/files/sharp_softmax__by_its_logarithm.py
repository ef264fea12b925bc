import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    logits = tl.load(x_ptr + i) * 300.0
    largest = tl.max(logits, 0)
    total = largest + tl.log(tl.sum(tl.exp(logits - largest), 0))
    tl.store(y_ptr + i, tl.exp(logits - total))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        softmax[(x.shape[0],)](x, y, x.shape[1])
        return y
