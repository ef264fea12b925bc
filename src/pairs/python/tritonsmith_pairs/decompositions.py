"""Operators that Inductor would leave to torch, in terms of those for which it writes kernels."""

import math

import torch
import torch.nn.functional as F

WIDE = 25  # Inductor leaves a window of more elements to torch


def trilinear(first, second, third, expand_first, expand_second, expand_third, summed, unroll_dim=1):
    """The product of three tensors, summed: what nn.Bilinear computes."""
    factors = []
    for tensor, dims in ((first, expand_first), (second, expand_second), (third, expand_third)):
        for dim in sorted(dims):
            tensor = tensor.unsqueeze(dim)
        factors.append(tensor)
    return (factors[0] * factors[1] * factors[2]).sum(summed)


def wide_average(dimensions):
    """An average pool of a large window as a mean over windows. Others stay as they are."""

    def decomposed(x, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        def each(value):
            value = list(value) if isinstance(value, (list, tuple)) else [value]
            return value * dimensions if len(value) == 1 else value

        kernel, padding = each(kernel_size), each(padding)
        stride = each(stride) if stride else kernel
        if math.prod(kernel) <= WIDE or ceil_mode or (any(padding) and not count_include_pad):
            return NotImplemented
        if any(padding):
            x = F.pad(x, [amount for size in reversed(padding) for amount in (size, size)])
        first = x.dim() - dimensions
        for at, (size, step) in enumerate(zip(kernel, stride)):
            x = x.unfold(first + at, size, step)  # each adds a dimension at the end
        return x.sum(tuple(range(-dimensions, 0))) / (divisor_override or math.prod(kernel))

    return decomposed


def install():
    from torch._inductor.decomposition import decompositions
    aten = torch.ops.aten
    decompositions[aten._trilinear.default] = trilinear
    for dimensions, operator in ((2, aten.avg_pool2d.default), (3, aten.avg_pool3d.default)):
        decompositions[operator] = wide_average(dimensions)
