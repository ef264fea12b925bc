"""Finds out whether a candidate replaced something that is not its own: a function of torch or of the kernel language, a builtin, or the
recorder's methods.

Nothing that a candidate replaces can change a verdict, because a plan is replayed without Python. But it is a candidate that
tries, and inspection may have missed how.
"""

import builtins
import sys
from types import (BuiltinFunctionType, FunctionType, GetSetDescriptorType, MethodDescriptorType, ModuleType,
                   WrapperDescriptorType)

import torch

from . import triton_language
from .errors import CaptureStop

MODULES = ("torch", "torch.cuda", "torch.nn", "torch.nn.functional", "torch.nn.modules.module", "torch.nn.init", "torch.random",
           "torch.linalg", "torch.testing", "torch.autograd", "torch.utils._pytree", "torch.overrides",
           *triton_language.WATCHED_MODULES, "math", "time", "random", "statistics", "functools", "operator")
CLASSES = (torch.Tensor, torch.nn.Module, torch.nn.Linear, torch.nn.Parameter,
           *triton_language.watched_classes(), torch.autograd.Function)
KINDS = (FunctionType, BuiltinFunctionType, type, ModuleType, staticmethod, classmethod, property, MethodDescriptorType,
         GetSetDescriptorType, WrapperDescriptorType)


def parts_of(names):
    return {name: value for name, value in names.items() if isinstance(value, KINDS) or callable(value)}


class Originals:
    """What stood in the watched modules and classes before any candidate ran."""

    def __init__(self):
        self.watched = [("builtins", builtins.__dict__)]
        self.watched += [(name, sys.modules[name].__dict__) for name in MODULES if name in sys.modules]
        self.watched += [(module.__name__, module.__dict__) for name, module in sys.modules.items()
                         if name.startswith("tritonsmith_guest.")]
        self.classes = [*CLASSES, torch.cuda.Event, torch.cuda.Stream]
        self.classes += [value for name, names in self.watched if name.startswith("tritonsmith_guest.")
                         for value in names.values() if isinstance(value, type) and value.__module__ == name]
        self.before = [parts_of(names) for _, names in self.watched]
        self.before_of_classes = [parts_of(vars(one)) for one in self.classes]
        self.names_of_classes = [set(vars(one)) for one in self.classes]

    def first_change(self):
        """Returns the name of the first thing that is another one now, or None."""
        places = [*self.watched, *((one.__qualname__, vars(one)) for one in self.classes)]
        for (place, names), before in zip(places, [*self.before, *self.before_of_classes]):
            for name, value in before.items():
                if names.get(name) is not value:
                    return f"{place}.{name}"
        for one, names in zip(self.classes, self.names_of_classes):
            for name in vars(one).keys() - names:  # torch.Tensor.relu = ... hides what its base has
                if any(name in vars(base) for base in one.__mro__[1:]):
                    return f"{one.__qualname__}.{name}"
        return None


def checker():
    """Returns a function that ends the capture if something changed since."""
    originals = Originals()

    def check():
        if changed := originals.first_change():
            raise CaptureStop("tampering", f"the file replaces {changed}, which is not its own", 0)
    return check
