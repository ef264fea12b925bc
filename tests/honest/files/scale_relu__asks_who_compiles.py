import torch
import torch._dynamo
import torch.fx
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.maximum(x * 1.5 + 0.25, 0.0), mask=mask)


@torch.fx.wrap
@torch._dynamo.disable
def run(x):
    y = torch.empty_like(x)
    scale_relu[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y


class ModelNew(nn.Module):
    @torch.jit.unused
    def explain(self):
        return "one kernel"

    def forward(self, x):
        if torch.compiler.is_compiling() or torch.jit.is_scripting() or torch.jit.is_tracing():
            raise RuntimeError("for eager mode only: " + self.explain())
        return run(x)
