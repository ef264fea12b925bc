import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32})], key=["n"], reset_to_zero=["y_ptr"])
@triton.jit
def mean(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row, block = tl.program_id(0), tl.program_id(1)
    columns = block * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0)
    tl.atomic_add(y_ptr + row, tl.sum(x, axis=0) / n)


class ModelNew(nn.Module):
    def forward(self, x):
        rows, n = x.shape
        y = torch.zeros(rows, device=x.device)
        mean[lambda meta: (rows, triton.cdiv(n, meta["BLOCK"]))](x, y, n)
        return y
