"""Answers what torch asks about the GPU's memory: what a process has there that holds the tensors captured so far.

The numbers are those of an allocator that rounds to 512 bytes and reserves 2 MiB at a time, beside what a context takes. The process
has other tensors, too, and it shares the GPU with others. How much both take is another number in each call, since no kernel's work
depends on it.
"""

from collections import Counter

import torch

from . import process_answers
from .device_properties import PROPERTIES

CONTEXT_BYTES = 498 << 20  # what CUDA's context and libraries take on a GPU
BLOCK, SEGMENT = 512, 2 << 20  # what the allocator gives, and what it reserves
LEAST_USED, MOST_USED = 0.05, 0.95  # of the GPU's memory, by all processes
OWN = (0.7, 0.0, 0.9, 0.004)   # of the used memory, by the call: what this process has reserved
_tensors = None            # the table of tensors of the capture in progress


def set_tensors(tensors):
    global _tensors
    _tensors = tensors


def captured():
    """Returns how many bytes the tensors captured so far take."""
    specs = _tensors.specs if _tensors is not None else []
    storages = {spec["storage"]: spec["storage_bytes"] for spec in specs}
    return sum(rounded(size, BLOCK) for size in storages.values())


def rounded(size, unit):
    return -(-int(size) // unit) * unit


def used_by_all():
    return PROPERTIES.total_memory * (LEAST_USED + (MOST_USED - LEAST_USED) * process_answers.share(0.6180339887))


def others():
    """Returns how many bytes the allocator has reserved beside the tensors captured so far."""
    return rounded(min(used_by_all() * process_answers.choice(OWN), max(0, PROPERTIES.total_memory - captured()) * 0.9), SEGMENT)


def allocated(*args, **kwargs):
    process_answers.note_question()
    return rounded(others() * (0.5 + 0.4 * process_answers.share(0.7548776662)), BLOCK) + captured()


def most_allocated(*args, **kwargs):
    """Returns the most bytes that were allocated at a time: a part of what is reserved, or all of it."""
    now = allocated()
    return now + rounded((reserved() - now) * process_answers.share(0.5698402910) / 2, BLOCK)


def device_of(storage):
    """Returns the device of a fake storage."""
    tensors = (tensor for tensor in (_tensors.alive if _tensors is not None else []) if isinstance(tensor, torch.Tensor))
    return next((tensor.device for tensor in tensors if tensor.untyped_storage()._cdata == storage._cdata), torch.device("cuda", 0))


def reserved(*args, **kwargs):
    process_answers.note_question()
    return others() + rounded(captured(), SEGMENT)


def information(*args, **kwargs):
    """Returns free and total bytes. Free bytes do not follow the tensors, so that code that looks twice in a call sees one number
    unless the tensors are many."""
    total = PROPERTIES.total_memory
    used = max(used_by_all(), reserved() + CONTEXT_BYTES)
    return max(total - rounded(used, SEGMENT), rounded(total * (1 - MOST_USED), SEGMENT)), total


def statistics(*args, **kwargs):
    answer, now, kept = Counter(), allocated(), reserved()
    for name, value, peak in (("allocated_bytes", now, most_allocated()), ("active_bytes", now, most_allocated()),
                              ("requested_bytes", now, most_allocated()), ("reserved_bytes", kept, kept)):
        answer.update({f"{name}.all.current": value, f"{name}.all.peak": peak, f"{name}.all.allocated": 3 * peak,
                       f"{name}.all.freed": 3 * peak - value})
    blocks = len({spec["storage"] for spec in _tensors.specs}) if _tensors is not None else 0
    blocks += others() >> 22
    for name, count in (("allocation", blocks), ("active", blocks), ("segment", kept // SEGMENT)):
        answer.update({f"{name}.all.current": count, f"{name}.all.peak": count, f"{name}.all.allocated": 2 * count,
                       f"{name}.all.freed": count})
    return answer
