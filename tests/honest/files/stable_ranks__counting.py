import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def count_those_before(scores_ptr, order_ptr, N: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, N)
    scores = tl.load(scores_ptr + row * N + columns)
    larger = scores[None, :] > scores[:, None]
    earlier = (scores[None, :] == scores[:, None]) & (columns[None, :] < columns[:, None])
    position = tl.sum((larger | earlier).to(tl.int32), axis=1)
    tl.store(order_ptr + row * N + position, columns.to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, scores):
        order = torch.empty(scores.shape, dtype=torch.int64, device=scores.device)
        count_those_before[(scores.shape[0],)](scores, order, N=scores.shape[1])
        return order
