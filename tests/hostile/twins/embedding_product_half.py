import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gather_and_mix(i_ptr, table_ptr, w_ptr, y_ptr, D: tl.constexpr):
    row = tl.program_id(0)
    d = tl.arange(0, D)
    at = tl.load(i_ptr + row) * D
    h = tl.load(table_ptr + at + d).to(tl.float32)
    r = tl.maximum(h, 0.0)
    w = tl.load(w_ptr + d[None, :] * D + d[:, None]).to(tl.float32)
    product = tl.sum(w * r[None, :], axis=1).to(tl.float16)
    tl.store(y_ptr + row * D + d, (h + product).to(tl.float16))


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.table = nn.Embedding(100, features, dtype=torch.float16)
        self.mix = nn.Parameter(torch.zeros(features, features, dtype=torch.float16))

    def forward(self, index):
        table = self.table.weight
        y = torch.empty(index.shape[0], table.shape[1], device=index.device, dtype=table.dtype)
        gather_and_mix[(index.shape[0],)](index, table, self.mix, y, y.shape[1])
        return y
