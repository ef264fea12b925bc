import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def expectation(p_ptr, v_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    p = tl.load(p_ptr + row * n + columns, mask=columns < n, other=0.0)
    v = tl.load(v_ptr + row * n + columns, mask=columns < n, other=0.0)
    tl.store(y_ptr + row, tl.sum(p * v, axis=0) / tl.sum(p, axis=0))


class ModelNew(nn.Module):
    def forward(self, p, v):
        y = torch.empty(p.shape[0], device=p.device)
        expectation[(p.shape[0],)](p, v, y, p.shape[1], BLOCK=64)
        return y
