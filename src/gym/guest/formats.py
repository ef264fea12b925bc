"""Gives fake tensors the memory format that an operator's result has on a device, where the fake one has another."""

import torch
from torch._prims_common import suggest_memory_format


def as_on_a_device(args, out):
    """Returns the result of a convolution as a device lays it out.

    A convolution keeps the channels last if its image or its weight has them last. The virtual GPU has no cuDNN, and the
    fallback that fake tensors take does not keep them."""
    if out.dtype == torch.float64:
        return out
    formats = {suggest_memory_format(tensor) for tensor in args[:2]} - {torch.contiguous_format}
    return out.contiguous(memory_format=formats.pop()) if formats else out
