"""Case: one kernel with one launch. Inputs come from a generator seeded by the case's name, so that the compiling and
the interpreting process see the same."""
import zlib
from dataclasses import dataclass, field

import torch


@dataclass
class Case:
    name: str
    kernel: object
    arguments: list                # tensors and scalars for the kernel's arguments that are no constants, in order
    constants: dict = field(default_factory=dict)
    grid: tuple = (1,)
    tolerance: float = 1.0         # times the usual tolerance of the dtype
    reference: object = None       # instead of the interpreter: arguments -> [(tensor, what it must hold)]
    debug: bool = False


@dataclass
class Descriptor:
    """A tensor descriptor made on the host, of a contiguous matrix."""
    tensor: torch.Tensor
    shape: list
    block: list


def generator(name):
    return torch.Generator().manual_seed(zlib.crc32(name.encode()))


def normal(name, shape, dtype=torch.float32, scale=1.0):
    return (torch.randn(shape, generator=generator(name), dtype=torch.float64) * scale).to(dtype)


def uniform(name, shape, low, high, dtype=torch.float32):
    return (torch.rand(shape, generator=generator(name), dtype=torch.float64) * (high - low) + low).to(dtype)


def integers(name, shape, low, high, dtype=torch.int32):
    return torch.randint(low, high, shape if isinstance(shape, tuple) else (shape,), generator=generator(name), dtype=torch.int64).to(dtype)


def empty(shape, dtype=torch.float32):
    return torch.zeros(shape, dtype=dtype)
