import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_chunk(x_ptr, y_ptr, ends_ptr, chunks_ptr, N: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    segment = tl.load(chunks_ptr + tl.program_id(0) * 2)
    chunk = tl.load(chunks_ptr + tl.program_id(0) * 2 + 1)
    first, last = tl.load(ends_ptr + segment), tl.load(ends_ptr + segment + 1)
    rows, n = first + chunk * ROWS + tl.arange(0, ROWS), tl.arange(0, BLOCK)
    mask = (rows < last)[:, None] & (n < N)[None, :]
    total = tl.sum(tl.load(x_ptr + rows[:, None] * N + n[None, :], mask=mask, other=0.0), axis=0)
    tl.atomic_add(y_ptr + segment * N + n, total / (last - first).to(tl.float32), mask=n < N)


def chunks_of(ends, rows):
    counts = (ends[1:] - ends[:-1] + rows - 1) // rows
    segments = torch.repeat_interleave(torch.arange(len(counts), device=ends.device), counts)
    before = torch.repeat_interleave(counts.cumsum(0) - counts, counts)
    return torch.stack([segments, torch.arange(len(segments), device=ends.device) - before], dim=1)


class ModelNew(nn.Module):
    def forward(self, x, ends):
        chunks = chunks_of(ends, 16)
        y = torch.zeros((len(ends) - 1, x.shape[1]), device=x.device)
        add_chunk[(len(chunks),)](x, y, ends, chunks, N=x.shape[1], ROWS=16, BLOCK=64)
        return y
