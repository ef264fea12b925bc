"""Answers what torch asks about the GPU's memory: what a process has there that holds the tensors captured so far.

The numbers are those of an allocator that rounds to 512 bytes and reserves 2 MiB at a time, beside what a context takes.
"""

from collections import Counter

import torch

from .device_properties import PROPERTIES

CONTEXT_BYTES = 498 << 20  # what CUDA's context and libraries take on a GPU
_tensors = None            # the table of tensors of the capture in progress


def set_tensors(tensors):
    global _tensors
    _tensors = tensors


def allocated(*args, **kwargs):
    specs = _tensors.specs if _tensors is not None else []
    storages = {spec["storage"]: spec["storage_bytes"] for spec in specs}
    return sum(-(-size // 512) * 512 for size in storages.values())


def device_of(storage):
    """Returns the device of a fake storage."""
    tensors = (tensor for tensor in (_tensors.alive if _tensors is not None else []) if isinstance(tensor, torch.Tensor))
    return next((tensor.device for tensor in tensors if tensor.untyped_storage()._cdata == storage._cdata), torch.device("cuda", 0))


def reserved(*args, **kwargs):
    return -(-allocated() // (2 << 20)) * (2 << 20)


def information(*args, **kwargs):
    """Returns free and total bytes. Code that chooses a block by the free memory chooses alike in every call, so the number
    does not follow the tensors."""
    return PROPERTIES.total_memory - CONTEXT_BYTES, PROPERTIES.total_memory


def statistics(*args, **kwargs):
    answer = Counter()
    for name, value in (("allocated_bytes", allocated()), ("reserved_bytes", reserved()), ("active_bytes", allocated())):
        answer.update({f"{name}.all.current": value, f"{name}.all.peak": value})
    return answer
