"""Finds out whether a candidate replaced something that is not its own: a function of torch or of a kernel
language, a builtin, or the recorder's methods.

Nothing that a candidate replaces can change a verdict, because a plan is replayed without Python. But it is a candidate that
tries, and inspection may have missed how.
"""

import builtins
import ctypes
import gc
import sys
from types import (BuiltinFunctionType, FunctionType, GetSetDescriptorType, MethodDescriptorType, ModuleType,
                   WrapperDescriptorType)

import torch

from .errors import CaptureStop
from .languages import LANGUAGES

MODULES = ("torch", "torch.cuda", "torch.nn", "torch.nn.functional", "torch.nn.modules.module", "torch.nn.init", "torch.random",
           "torch.linalg", "torch.testing", "torch.autograd", "torch.utils._pytree", "torch.overrides",
           *(name for language in LANGUAGES for name in language.WATCHED_MODULES),
           "math", "time", "random", "statistics", "functools", "operator")
CLASSES = (torch.Tensor, torch.nn.Module, torch.nn.Linear, torch.nn.Parameter,
           *(one for language in LANGUAGES for one in language.watched_classes()), torch.autograd.Function)
KINDS = (FunctionType, BuiltinFunctionType, type, ModuleType, staticmethod, classmethod, property, MethodDescriptorType,
         GetSetDescriptorType, WrapperDescriptorType)


# Where a dictionary of this CPython keeps its version: behind the reference count, the type and the number of items.
VERSION_OFFSET = 3 * ctypes.sizeof(ctypes.c_size_t)


def version_of(names):
    """Returns a number that changes with each change of the dictionary (PEP 509), as an object whose `value` is read anew."""
    return ctypes.c_uint64.from_address(id(names) + VERSION_OFFSET)


def versions_are_kept():
    """Whether this Python keeps versions where version_of() looks for them."""
    names = {"one": 1, "two": 2}
    version = version_of(names)
    seen = [version.value]
    for value in (3, 4):
        names["one"] = value
        seen.append(version.value)
    return len(set(seen)) == 3 and version.value == seen[-1]


def dictionary_of(one):
    """Returns the dictionary behind a class's vars(), which shows it read-only."""
    return gc.get_referents(vars(one))[0]


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
        self.namespaces = [(name, names, parts_of(names)) for name, names in self.watched]
        self.namespaces += [(one.__qualname__, vars(one), parts_of(vars(one))) for one in self.classes]
        self.names_of_classes = [set(vars(one)) for one in self.classes]
        dictionaries = [*(names for _, names in self.watched), *map(dictionary_of, self.classes)]
        self.versions = [version_of(names) for names in dictionaries] if versions_are_kept() else []
        self.seen = []  # the versions that first_change() has looked at

    def changed_namespaces(self):
        """Returns the numbers of the namespaces that may have changed since the last look. To look at a name writes to its memory,
        which a guest shares with the zygote until then. The version of a dictionary saves this for most names."""
        versions, before = [version.value for version in self.versions], self.seen
        self.seen = versions
        return [k for k in range(len(self.namespaces)) if not before or versions[k] != before[k]]

    def first_change(self):
        """Returns the name of the first thing that is another one now, or None."""
        for k in self.changed_namespaces():
            owner, names, before = self.namespaces[k]
            for name, value in before.items():
                if names.get(name) is not value:
                    return f"{owner}.{name}"
            if k >= len(self.watched) and (added := self.hiding(k - len(self.watched))):
                return f"{owner}.{added}"
        return None

    def hiding(self, number):
        """Returns a new name of a class that hides what its base has, as `torch.Tensor.relu = ...` does."""
        one = self.classes[number]
        return next((name for name in vars(one).keys() - self.names_of_classes[number]
                     if any(name in vars(base) for base in one.__mro__[1:])), None)


def checker():
    """Returns a function that ends the capture if something changed since."""
    originals = Originals()

    def check():
        if changed := originals.first_change():
            raise CaptureStop("tampering", f"the file replaces {changed}, which is not its own", 0)
    return check
