import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gather(index_ptr, table_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    source = tl.load(index_ptr + row)
    tl.store(y_ptr + row * columns + offsets, tl.load(table_ptr + source * columns + offsets, mask=offsets < columns), mask=offsets < columns)


class ModelNew(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.table = nn.Embedding(rows, columns)

    def forward(self, index):
        y = torch.empty((index.shape[0], self.table.embedding_dim), device=index.device, dtype=self.table.weight.dtype)
        gather[(index.shape[0],)](index, self.table.weight, y, self.table.embedding_dim, BLOCK=32)
        return y
