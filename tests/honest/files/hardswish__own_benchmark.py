import torch
import torch.nn as nn
import triton
import triton.language as tl


def measured(run, quantiles):
    return triton.testing.do_bench(run, warmup=5, rep=20, quantiles=quantiles)


@triton.autotune(configs=[triton.Config({"BLOCK": block}) for block in (256, 1024)], key=["n"], do_bench=measured)
@triton.jit
def hardswish(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x * tl.minimum(tl.maximum(x + 3.0, 0.0), 6.0) / 6.0, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        hardswish[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n)
        return y
