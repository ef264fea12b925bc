import torch
import torch.nn as nn
import triton
import triton.language as tl


# The parts are added to 1.
def clear(nargs):
    nargs["y_ptr"].fill_(1.0)


@triton.autotune(configs=[triton.Config({"PARTS": 1}), triton.Config({"PARTS": 4}, pre_hook=clear)], key=["n"])
@triton.jit
def total(x_ptr, y_ptr, n, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    size = tl.cdiv(n, PARTS)
    first = tl.program_id(0) * size
    last = tl.minimum(first + size, n)
    sums = tl.zeros((BLOCK,), tl.float32)
    for at in range(first, last, BLOCK):
        o = at + tl.arange(0, BLOCK)
        sums += tl.load(x_ptr + o, mask=o < last, other=0.0)
    if PARTS == 1:
        tl.store(y_ptr, tl.sum(sums, 0))
    else:
        tl.atomic_add(y_ptr, tl.sum(sums, 0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty((), device=x.device)
        total[lambda meta: (meta["PARTS"],)](x, y, x.numel(), BLOCK=256)
        return y
