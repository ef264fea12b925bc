import functools
import inspect
import operator

import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.language.extra import libdevice


def on_device(function):
    """Makes every tensor contiguous, whatever its place among the arguments."""
    names = list(inspect.signature(function).parameters)
    shape_of = operator.attrgetter("shape")

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        given = dict(zip(names, args), **kwargs)
        ready = {name: value.contiguous() if isinstance(value, torch.Tensor) else value for name, value in given.items()}
        assert all(shape_of(value) is not None for value in ready.values() if isinstance(value, torch.Tensor))
        return function(**ready)
    return wrapped


@triton.jit
def elu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.where(x > 0, x, libdevice.expm1(x)), mask=mask)


@on_device
def apply_elu(x, compile=False):
    y = torch.empty_like(x)
    elu[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
    return y if not compile else y.clone()


class ModelNew(nn.Module):
    def forward(self, x):
        return apply_elu(x)
