import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def loss(x_ptr, target_ptr, loss_ptr, valid, V, BLOCK: tl.constexpr):
    row, v = tl.program_id(0), tl.arange(0, BLOCK)
    target = tl.load(target_ptr + row)
    x = tl.load(x_ptr + row * V + v, mask=v < V, other=-float("inf"))
    largest = tl.max(x, axis=0)
    logarithm = tl.log(tl.sum(tl.exp(x - largest), axis=0)) + largest
    tl.atomic_add(loss_ptr, (logarithm - tl.load(x_ptr + row * V + target)) / valid)


class ModelNew(nn.Module):
    def forward(self, x, target):
        is_counted = target != -100
        valid = is_counted.sum().item()
        assert (target * is_counted).max() < x.shape[1], "a target is no class"
        total = torch.zeros((), device=x.device)
        loss[(x.shape[0],)](x, target, total, float(valid + 1), x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return total
