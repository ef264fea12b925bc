import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def order_of_column(times_ptr, order_ptr, columns, N: tl.constexpr):
    column, rows = tl.program_id(0), tl.arange(0, N)
    times = tl.load(times_ptr + rows * columns + column) * 2.0
    before = (times[None, :] < times[:, None]) | ((times[None, :] == times[:, None]) & (rows[None, :] < rows[:, None]))
    position = tl.sum(before.to(tl.int32), axis=1)
    tl.store(order_ptr + position * columns + column, rows.to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, arrivals):
        order = torch.empty(arrivals.shape, dtype=torch.int64, device=arrivals.device)
        order_of_column[(arrivals.shape[1],)](arrivals, order, arrivals.shape[1], N=arrivals.shape[0])
        return order
