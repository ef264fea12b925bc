import torch
import torch.nn as nn
import triton
import triton.language as tl


def fill(nargs):
    nargs["y_ptr"].fill_(0.0)


def clear(nargs):
    nargs["y_ptr"].zero_()


@triton.autotune(configs=[triton.Config({"ROWS": 16}, pre_hook=fill), triton.Config({"ROWS": 128}, pre_hook=clear)], key=["n"])
@triton.jit
def column_sum(x_ptr, y_ptr, m, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(tl.program_id(1) * ROWS, tl.minimum(tl.program_id(1) * ROWS + ROWS, m)):
        total += tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0)
    tl.atomic_add(y_ptr + columns, total, mask=columns < n)


class ModelNew(nn.Module):
    def forward(self, x):
        m, n = x.shape
        y = torch.empty(n, device=x.device)
        column_sum[lambda meta: (triton.cdiv(n, 64), triton.cdiv(m, meta["ROWS"]))](x, y, m, n, BLOCK=64)
        return y
