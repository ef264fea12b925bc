import torch
import torch.nn as nn
import triton
import triton.language as tl
from torch._C import _cuda_getCurrentRawStream as get_raw_stream


@triton.jit
def scale_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.maximum(x * 1.5 + 0.25, 0.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        assert torch.float32 in torch.accelerator.get_device_capability()["supported_dtypes"]
        with torch.cuda._DeviceGuard(0):
            torch.cuda.set_device(0)
            stream = get_raw_stream(0)
            y = torch.empty_like(x)
            torch.library.wrap_triton(scale_relu)[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        assert stream == torch.cuda.current_stream().cuda_stream
        return y
