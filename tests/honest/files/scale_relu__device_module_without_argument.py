import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(y_ptr + offsets, tl.maximum(tl.load(x_ptr + offsets, mask=mask) * 1.5 + 0.25, 0.0), mask=mask)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        device = torch.get_device_module()
        self.programs = 4 * device.get_device_properties(0).multi_processor_count

    def forward(self, x):
        y = torch.empty_like(x)
        with torch.get_device_module().device(x.device):
            scale_relu[(min(self.programs, triton.cdiv(x.numel(), 256)),)](x, y, x.numel(), BLOCK=256)
        return y
