import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, a_ptr, y_ptr, C, S: tl.constexpr):
    r = tl.program_id(0)
    x = tl.load(x_ptr + r)
    sp = tl.where(x > 20.0, x, tl.log(1.0 + tl.exp(tl.minimum(x, 20.0))))
    s = tl.arange(0, S)
    tl.store(y_ptr + r * S + s, tl.exp(-tl.exp(tl.load(a_ptr + (r % C) * S + s)) * sp))


class ModelNew(nn.Module):
    def __init__(self, channels, states):
        super().__init__()
        self.a_log = nn.Parameter(torch.log(torch.arange(1, states + 1).float()).repeat(channels, 1))

    def forward(self, dt):
        channels, states = self.a_log.shape
        y = torch.empty(*dt.shape, states, device=dt.device)
        k[(dt.numel(),)](dt, self.a_log, y, channels, states)
        return y
