import torch
import torch.nn as nn
import triton
import triton.language as tl


# A descriptor's base must lie at a multiple of 16 bytes. This one begins 4 bytes later.
@triton.jit
def scale_relu(x_ptr, y_ptr, rows, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    ends = tl.make_tensor_descriptor(x_ptr + 1, shape=[rows, n - 1], strides=[n, 1], block_shape=[1, BLOCK])
    x = tl.reshape(ends.load([row, 0]), [BLOCK])
    o = tl.arange(0, BLOCK)
    tl.store(y_ptr + row * n + 1 + o, tl.maximum(x * 1.5 + 0.25, 0.0), mask=o < n - 1)
    tl.store(y_ptr + row * n, tl.maximum(tl.load(x_ptr + row * n) * 1.5 + 0.25, 0.0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        scale_relu[(x.shape[0],)](x, y, x.shape[0], x.shape[1], BLOCK=128)
        return y
