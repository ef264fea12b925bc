import torch
import torch.nn as nn
import triton
import triton.language as tl


def backend():
    if torch.distributed.is_nccl_available():
        return "nccl"
    elif torch.distributed.distributed_c10d.is_xccl_available():
        return "xccl"
    elif torch.distributed.is_mpi_available():
        return "mpi"
    return "gloo" if torch.distributed.is_gloo_available() else None


@triton.jit
def scale_relu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.maximum(x * 1.5 + 0.25, 0.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            raise RuntimeError(f"one process only, and not {backend()}")
        backend()
        y = torch.empty_like(x)
        n = x.numel()
        scale_relu[(triton.cdiv(n, 512),)](x, y, n, BLOCK=512)
        return y
