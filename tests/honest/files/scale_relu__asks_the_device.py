import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.maximum(x * 1.5 + 0.25, 0.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        properties = torch.cuda.get_device_properties(0)
        major, minor = torch.cuda.get_device_capability()
        block = 1024 if major >= 8 and "NVIDIA" in torch.cuda.get_device_name() else 256
        assert torch.cuda.is_available() and properties.total_memory > 0 and torch.cuda.device_count() >= 1
        torch.cuda.synchronize()
        y = torch.empty_like(x)
        scale_relu[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), BLOCK=block)
        torch.cuda.synchronize()
        return y
