import torch
import torch.nn as nn
import triton
import triton.language as tl


# It stores by a descriptor whose rows are 308 bytes apart.
@triton.jit
def silu(x_ptr, y_ptr, rows, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + o, mask=o < n, other=0.0)
    block = tl.make_tensor_descriptor(y_ptr, shape=[rows, n], strides=[n, 1], block_shape=[1, BLOCK])
    block.store([row, 0], (x * tl.sigmoid(x))[None, :])


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        silu[(x.shape[0],)](x, y, x.shape[0], x.shape[1], BLOCK=128)
        return y
