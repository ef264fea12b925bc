import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def lose(x_ptr, classes_ptr, losses_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=float("-inf"))
    largest = tl.max(x, axis=0)
    total = tl.log(tl.sum(tl.exp(x - largest), axis=0)) + largest
    wanted = tl.load(classes_ptr + row)
    counts = wanted >= 0
    loss = total - tl.load(x_ptr + row * n + tl.maximum(wanted, 0))
    tl.store(losses_ptr + row, tl.where(counts, loss, 0.0))
    tl.store(counts_ptr + row, counts.to(tl.float32))


@triton.jit
def take_mean(losses_ptr, counts_ptr, mean_ptr, rows, BLOCK: tl.constexpr):
    row = tl.arange(0, BLOCK)
    losses = tl.load(losses_ptr + row, mask=row < rows, other=0.0)
    counts = tl.load(counts_ptr + row, mask=row < rows, other=0.0)
    tl.store(mean_ptr, tl.sum(losses, axis=0) / tl.sum(counts, axis=0))


class ModelNew(nn.Module):
    def forward(self, x, classes):
        rows, n = x.shape
        losses = torch.empty(rows, device=x.device)
        counts = torch.empty(rows, device=x.device)
        mean = torch.empty((), device=x.device)
        lose[(rows,)](x, classes, losses, counts, n, BLOCK=triton.next_power_of_2(n))
        take_mean[(1,)](losses, counts, mean, rows, BLOCK=triton.next_power_of_2(rows))
        return mean
