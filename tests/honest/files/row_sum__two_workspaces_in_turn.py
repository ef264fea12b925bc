import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def halves(x_ptr, work_ptr, calls_ptr, N, ROWS, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    place = tl.load(calls_ptr) % 2 * 2 * ROWS
    for half in range(2):
        at = half * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + at, mask=at < N, other=0.0)
        tl.store(work_ptr + place + 2 * row + half, tl.sum(x, axis=0))


@triton.jit
def add(work_ptr, y_ptr, calls_ptr, ROWS, BLOCK: tl.constexpr):
    row = tl.arange(0, BLOCK)
    place = tl.load(calls_ptr) % 2 * 2 * ROWS
    first = tl.load(work_ptr + place + 2 * row, mask=row < ROWS)
    second = tl.load(work_ptr + place + 2 * row + 1, mask=row < ROWS)
    tl.store(y_ptr + row, first + second, mask=row < ROWS)


@triton.jit
def count(calls_ptr):
    tl.store(calls_ptr, tl.load(calls_ptr) + 1)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int32))
        self.register_buffer("work", torch.zeros(4 * 4096))

    def forward(self, x):
        rows, n = x.shape
        y = torch.empty(rows, device=x.device)
        block = triton.next_power_of_2(triton.cdiv(n, 2))
        halves[(rows,)](x, self.work, self.calls, n, rows, block)
        add[(1,)](self.work, y, self.calls, rows, triton.next_power_of_2(rows))
        count[(1,)](self.calls)
        return y
