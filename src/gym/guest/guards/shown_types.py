"""The types and attributes that a candidate's Python sees: those of a GPU's tensors, where the capture has fake ones."""

import sys

import torch
from torch._subclasses.fake_tensor import FakeTensor

# What tells a fake tensor from a real one.
FAKE = {"fake_mode", "fake_device", "real_tensor", "constant", "nonzero_memo", "item_memo", "unique_memo", "from_tensor", "pytype",
        "dispatch_keys"} | {f"_{what}_memo{which}" for what in ("nonzero", "item", "unique", "unique_consecutive", "nested_int")
                            for which in ("", "_vc", "_epoch")}
_real_getattr, _real_frame = getattr, sys._getframe


def shown_type(value):
    """Returns the type that a value has on a GPU."""
    found = type(value)
    if found is not FakeTensor:
        return Type if found is type else found
    return torch.nn.Parameter if _real_getattr(value, "_is_param", False) else torch.Tensor


def made_type(frame, name, bases, names, **kwargs):
    """Returns a new class of the module that asks for it."""
    return type(name, bases, {"__module__": frame.f_globals["__name__"], **names}, **kwargs)


class TypeOfTypes(type):
    def __call__(cls, *args, **kwargs):
        if cls is Type:
            return shown_type(args[0]) if len(args) == 1 and not kwargs else made_type(_real_frame(1), *args, **kwargs)
        return super().__call__(*args, **kwargs)

    def __instancecheck__(cls, value): return isinstance(value, type) if cls is Type else super().__instancecheck__(value)
    def __subclasscheck__(cls, other): return issubclass(other, type) if cls is Type else super().__subclasscheck__(other)
    def __getitem__(cls, item): return type[item]
    def __eq__(cls, other): return cls is other or (cls is Type and other is type)
    def __hash__(cls): return hash(type) if cls is Type else super().__hash__()


class Type(type, metaclass=TypeOfTypes):
    """Replaces `type` in a candidate's builtins."""
