"""A Case is one kernel with one launch. Inputs come from a generator seeded by the case's name, so the compiling and the
interpreting process see the same inputs."""
import zlib
from dataclasses import dataclass, field

import torch


@dataclass
class Case:
    name: str
    kernel: object
    arguments: list                # tensors and scalars for the kernel's non-constant arguments, in order
    constants: dict = field(default_factory=dict)
    grid: tuple = (1,)
    tolerance: float = 1.0         # a factor on the dtype's usual tolerance
    reference: object = None       # replaces the interpreter: arguments -> [(tensor, expected values)]
    debug: bool = False


@dataclass
class Descriptor:
    """A tensor descriptor of a contiguous matrix that the host makes."""
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
