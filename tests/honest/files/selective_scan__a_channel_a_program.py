import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scan(x_ptr, delta_ptr, bias_ptr, a_ptr, b_ptr, c_ptr, skip_ptr, y_ptr, length, channels, STATES: tl.constexpr):
    batch, channel = tl.program_id(0), tl.program_id(1)
    s = tl.arange(0, STATES)
    a = tl.load(a_ptr + channel * STATES + s)
    bias = tl.load(bias_ptr + channel)
    skip = tl.load(skip_ptr + channel)
    h = tl.zeros((STATES,), dtype=tl.float32)
    for t in range(length):
        at = (batch * length + t) * channels + channel
        delta = tl.load(delta_ptr + at) + bias
        dt = tl.where(delta > 20.0, delta, tl.log(1.0 + tl.exp(tl.minimum(delta, 20.0))))
        x = tl.load(x_ptr + at)
        h = tl.exp(dt * a) * h + dt * x * tl.load(b_ptr + (batch * length + t) * STATES + s)
        y = tl.sum(h * tl.load(c_ptr + (batch * length + t) * STATES + s), axis=0)
        tl.store(y_ptr + at, y + skip * x)


class ModelNew(nn.Module):
    def __init__(self, channels, states):
        super().__init__()
        a_log = torch.log(torch.arange(1, states + 1).float()).repeat(channels, 1)
        self.register_buffer("a", -torch.exp(a_log))
        self.bias = nn.Parameter(torch.rand(channels) * 4 - 6)
        self.skip = nn.Parameter(torch.ones(channels))

    def forward(self, x, delta, b, c):
        y = torch.empty_like(x)
        scan[(x.shape[0], x.shape[2])](x, delta, self.bias, self.a, b, c, self.skip, y, x.shape[1], x.shape[2], STATES=self.a.shape[1])
        return y
