import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def pool(h_ptr, out_ptr, LENGTH, KEPT, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(4):
        total += tl.load(h_ptr + row * LENGTH + i + k, mask=i < KEPT, other=0.0)
    tl.store(out_ptr + row * KEPT + i, total / 4, mask=i < KEPT)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 8, 3)

    def forward(self, x):
        h = self.conv(x).contiguous()
        batch, channels, length = h.shape
        out = torch.empty(batch, channels, length - 3, device=x.device, dtype=x.dtype)
        pool[(batch * channels,)](h, out, length, length - 3, BLOCK=64)
        return out
