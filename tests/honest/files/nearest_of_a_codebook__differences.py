import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def find_nearest(x_ptr, book_ptr, nearest_ptr, found_ptr, CODES: tl.constexpr, SIZE: tl.constexpr):
    row = tl.program_id(0)
    codes = tl.arange(0, CODES)
    places = tl.arange(0, SIZE)
    x = tl.load(x_ptr + row * SIZE + places)
    book = tl.load(book_ptr + codes[:, None] * SIZE + places[None, :])
    off = x[None, :] - book
    distances = tl.sum(off * off, axis=1)
    nearest = tl.argmin(distances, axis=0)
    tl.store(nearest_ptr + row, nearest.to(tl.int64))
    tl.store(found_ptr + row * SIZE + places, tl.load(book_ptr + nearest * SIZE + places))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.codebook = nn.Parameter(torch.randn(32, 16))

    def forward(self, x):
        nearest = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)
        found = torch.empty_like(x)
        find_nearest[(x.shape[0],)](x, self.codebook, nearest, found, CODES=32, SIZE=16)
        return nearest, found
