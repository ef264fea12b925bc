import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def count(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < n, other=100.0)
    place = tl.floor((x - -1.25) * 2.0).to(tl.int32)
    place = tl.where(x == 1.25, 4, place)
    is_inside = (x >= -1.25) & (x <= 1.25)
    here = is_inside & (place == tl.program_id(0))
    tl.store(y_ptr + tl.program_id(0), tl.sum(here.to(tl.float32), axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(5, device=x.device)
        count[(5,)](x, y, x.numel(), BLOCK=1024)
        return y
