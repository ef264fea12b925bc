import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_bias(y_ptr, b_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    tl.store(y_ptr + row * N + i, tl.load(y_ptr + row * N + i) + tl.load(b_ptr + i))


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        one = torch.eye(width)
        self.register_buffer("sums", one - torch.full((width, width), 1 / width) + torch.triu(torch.ones(width, width)))

    def forward(self, x):
        y = torch.mm(x, self.linear.weight.t())
        add_bias[(x.shape[0],)](y, self.linear.bias, y.shape[1])
        return torch.mm(y, self.sums)
