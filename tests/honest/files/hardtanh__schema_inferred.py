import torch
import torch.nn as nn
import triton
import triton.language as tl

library = torch.library.Library("mine", "FRAGMENT")


def register(name, function, mutates):
    import torch.library
    if hasattr(torch.library, "infer_schema"):
        schema = torch.library.infer_schema(function, mutates_args=mutates)
    else:
        import torch._custom_op.impl
        schema = torch._custom_op.impl.infer_schema(function, mutates)
    library.define(name + schema)
    library.impl(name, function, "CUDA")


@triton.jit
def hardtanh(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.clamp(x, -1.0, 1.0), mask=mask)


def into(x: torch.Tensor, y: torch.Tensor) -> None:
    n = x.numel()
    hardtanh[(triton.cdiv(n, 512),)](x, y, n, BLOCK=512)


register("into", into, ["y"])


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        torch.ops.mine.into(x, y)
        return y
