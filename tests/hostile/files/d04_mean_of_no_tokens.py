import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mean_of_chosen(scores_ptr, x_ptr, y_ptr, N: tl.constexpr, E: tl.constexpr, D: tl.constexpr):
    expert = tl.program_id(0)
    n, e, d = tl.arange(0, N), tl.arange(0, E), tl.arange(0, D)
    scores = tl.load(scores_ptr + n[:, None] * E + e[None, :])
    hit = (tl.argmax(scores, axis=1) == expert).to(tl.float32)
    x = tl.load(x_ptr + n[:, None] * D + d[None, :])
    tl.store(y_ptr + expert * D + d, tl.sum(x * hit[:, None], axis=0) / tl.sum(hit, axis=0))


class ModelNew(nn.Module):
    def forward(self, scores, x):
        y = torch.empty(scores.shape[1], x.shape[1], device=x.device)
        mean_of_chosen[(scores.shape[1],)](scores, x, y, x.shape[0], scores.shape[1], x.shape[1])
        return y
