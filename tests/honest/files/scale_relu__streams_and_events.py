import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 1.5 + 0.25, mask=mask)


@triton.jit
def relu(y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(y_ptr + offsets, tl.maximum(tl.load(y_ptr + offsets, mask=mask), 0.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        here, side = torch.cuda.current_stream(x.device), torch.cuda.Stream(device=x.device)
        with torch.cuda.device(x.device), torch.autocast("cuda", enabled=False):
            side.wait_stream(here)
            with torch.cuda.stream(side):
                scale[(triton.cdiv(n, 512),)](x, y, n, BLOCK=512)
                done = side.record_event()
            here.wait_event(done)
            y.record_stream(here)
            relu[(triton.cdiv(n, 512),)](y, n, BLOCK=512)
        return y
