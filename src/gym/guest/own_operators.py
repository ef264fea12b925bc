"""Finds the Python of an operator that a file registered, in any of the ways that torch.library has."""

import torch
from torch._library.custom_ops import OPDEFS

# The dispatch keys whose kernels run for a tensor on a GPU, the most particular first.
KEYS = ("CUDA", "CompositeExplicitAutograd", "CompositeImplicitAutograd")

_kernels = {}  # the operator's full name -> {dispatch key: function}


def body_of(name):
    """Returns the function that runs for tensors on a GPU, or None for an operator that is not the file's."""
    definition = OPDEFS.get(name)
    if definition is not None:
        backends = definition._backend_fns
        return backends.get("cuda") or backends.get(None) or definition._init_fn
    kernels = _kernels.get(name, {})
    return next((kernels[key] for key in KEYS if key in kernels), None)


def remember(library, operator, function, key):
    name = operator if isinstance(operator, str) else operator._schema.name
    full = name if "::" in name else f"{library.ns}::{name}"
    if callable(function):
        _kernels.setdefault(full.split(".")[0], {})[key or library.dispatch_key or "CompositeImplicitAutograd"] = function


def install():
    """Makes torch.library.Library remember the kernels that it registers, in the whole process."""
    register = torch.library.Library.impl

    def impl(self, op_name, fn, dispatch_key="", **options):
        remember(self, op_name, fn, dispatch_key)
        return register(self, op_name, fn, dispatch_key, **options)
    torch.library.Library.impl = impl
