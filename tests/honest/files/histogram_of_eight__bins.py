import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def count(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < n, other=100.0)
    place = tl.floor((x - -2.0) * 2.0).to(tl.int32)
    place = tl.where(x == 2.0, 7, place)
    is_inside = (x >= -2.0) & (x <= 2.0)
    here = is_inside & (place == tl.program_id(0))
    tl.store(y_ptr + tl.program_id(0), tl.sum(here.to(tl.float32), axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(8, device=x.device)
        count[(8,)](x, y, x.numel(), BLOCK=1024)
        return y
