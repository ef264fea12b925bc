# This softmax of weights does not subtract the maximum.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(i_ptr, x_ptr, y_ptr, D: tl.constexpr):
    b = tl.program_id(0)
    o = tl.arange(0, D)
    e = tl.exp(tl.load(x_ptr + tl.load(i_ptr + b) * D + o))
    tl.store(y_ptr + b * D + o, e / tl.sum(e, 0))


class ModelNew(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.table = nn.Embedding(n, d)

    def forward(self, ids):
        D = self.table.weight.shape[1]
        y = torch.empty(ids.shape[0], D, device=ids.device)
        k[(ids.shape[0],)](ids, self.table.weight, y, D)
        return y
