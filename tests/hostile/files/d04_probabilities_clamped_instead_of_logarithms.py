import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def entropy(p_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    p = tl.load(p_ptr + row * n + columns, mask=mask, other=0.5)
    y = tl.load(y_ptr + row * n + columns, mask=mask, other=0.0)
    p = tl.minimum(tl.maximum(p, 1e-7), 1.0 - 1e-7)
    of_one, of_zero = tl.log(p), tl.log(1.0 - p)
    loss = -(y * of_one + (1.0 - y) * of_zero)
    tl.store(out_ptr + row, tl.sum(tl.where(mask, loss, 0.0), axis=0) / n)


class ModelNew(nn.Module):
    def forward(self, p, y):
        out = torch.empty(p.shape[0], device=p.device)
        entropy[(p.shape[0],)](p, y, out, p.shape[1], BLOCK=128)
        return out
