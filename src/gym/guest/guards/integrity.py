"""Finds out whether a candidate replaced something that is not its own: a function of Python's library, of torch or of a kernel
language, a builtin, a method of a class, or an operator.

The plan is data that Python wrote, so whoever replaces what writes it decides what is judged. What is serialised and sent is bound
before (private.py). All else that the guest may use is compared here after a candidate has run, and put back.
"""

import builtins
import ctypes
import gc
import sys
from types import (BuiltinFunctionType, FunctionType, GetSetDescriptorType, MethodDescriptorType, ModuleType,
                   WrapperDescriptorType)

import torch

from .languages import LANGUAGES, PACKAGES

# Parts of torch that no capture uses. The rest of torch, the kernel languages, Python's own library and the guest are watched.
UNUSED = tuple(f"torch.{name}." for name in (
    "_inductor", "_dynamo", "_functorch", "distributed", "distributions", "testing", "onnx", "ao", "export", "_export", "fx.experimental",
    "fx.passes", "sparse", "quantization", "package", "profiler", "_vendor", "_refs", "_decomp", "jit", "masked", "nested", "_strobelight", "compiler"))
WATCHED = {"torch", "tritonsmith_guest", *PACKAGES, *sys.stdlib_module_names}
# In these modules nothing changes that is what it was before once it has changed. In classes it is so in general.
STRICT = {"json", "json.encoder", "operator", "math", "builtins", "torch.nn.functional", "torch.functional", "torch._tensor",
          "torch.utils._pytree", *(name for language in LANGUAGES for name in language.WATCHED_MODULES)}
# Names that Python itself adds to a class.
ADDED_BY_PYTHON = {"__annotations__", "__doc__", "__abstractmethods__", "__parameters__", "__signature__", "__hash__"}
KINDS = (FunctionType, BuiltinFunctionType, type, ModuleType, staticmethod, classmethod, property, MethodDescriptorType,
         GetSetDescriptorType, WrapperDescriptorType)
HOOKS = {"excepthook", "displayhook", "unraisablehook", "breakpointhook"}  # of sys. Libraries set them when they are imported.
HEAP, CHANGEABLE = 1 << 9, 1 << 9 | 1 << 8  # flags of a type: Python may change a heap type that is not immutable

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


def is_watched(name):
    return name.split(".")[0] in WATCHED and name not in ("__main__", "task_module", "candidate_module") and not name.startswith(UNUSED)


def watched_modules():
    """Returns (name, module) for each module that the guest may use, but for names of modules that are there twice."""
    found = {id(module): (name, module) for name, module in list(sys.modules.items()) if type(module).__module__ != "importlib.util"
             and isinstance(module, ModuleType) and is_watched(name)}
    return [("builtins", builtins), *(pair for pair in found.values() if pair[1] is not builtins)]


def watched_classes(modules):
    """Returns the classes that the watched modules name and that Python code may change."""
    found = {id(one): one for _, module in modules for one in list(vars(module).values())
             if isinstance(one, type) and one.__flags__ & CHANGEABLE == HEAP and is_watched(str(one.__module__))}
    return list(found.values())


def watched_instances():
    """Returns (name, namespace) of torch's operators, whose attributes lead to what runs."""
    aten = torch.ops.aten
    packets = [(name, packet) for name, packet in vars(aten).items() if isinstance(packet, torch._ops.OpOverloadPacket)]
    return [("torch.ops.aten", vars(aten)), *((f"torch.ops.aten.{name}", vars(packet)) for name, packet in packets)]


class Originals:
    """What stood in the watched modules, classes and operators before any candidate ran."""

    def __init__(self):
        modules = watched_modules()
        self.classes = watched_classes(modules)
        spaces = [*((name, vars(module)) for name, module in modules), *watched_instances()]
        self.others = len(spaces)  # what follows are classes
        self.namespaces = [(name, names, parts_of(names)) for name, names in spaces]
        for hook in HOOKS:
            next(parts for name, _, parts in self.namespaces if name == "sys").pop(hook, None)
        self.namespaces += [(one.__qualname__, vars(one), parts_of(vars(one))) for one in self.classes]
        self.names_of_classes = [set(vars(one)) for one in self.classes]
        dictionaries = [*(names for _, names in spaces), *map(dictionary_of, self.classes)]
        self.versions = [version_of(names) for names in dictionaries] if versions_are_kept() else []
        # What the strict namespaces hold, so that a change shows that was undone.
        self.contents = {k: dict(names) for k, (name, names, _) in enumerate(self.namespaces)
                         if (not is_guests(self.classes[k - self.others]) if k >= self.others else name in STRICT)}
        self.seen = []  # the versions that were looked at last
        self.restless = frozenset()
        self.functions = frozenset(id(function) for _, _, parts in self.namespaces for value in parts.values()
                                   for function in functions_in(value))

    def changed_namespaces(self):
        """Returns the numbers of the namespaces that may have changed since the last look. To look at a name writes to its memory,
        which a guest shares with the zygote until then. The version of a dictionary saves this for most names."""
        versions, before = [version.value for version in self.versions], self.seen
        self.seen = versions
        return [k for k, version in enumerate(versions) if version != before[k]] if before and versions else range(len(self.namespaces))

    def settle(self):
        """Takes what has changed so far as something that changes by itself, such as a count that a class keeps."""
        self.restless = set(self.changed_namespaces())

    def put_back(self):
        """Puts back what was replaced, so that nothing of the candidate's runs later. Returns the name of the first such thing, or
        None."""
        first = None
        for k in self.changed_namespaces():
            owner, names, before = self.namespaces[k]
            one = self.classes[k - self.others] if k >= self.others else None
            for name, value in before.items():
                if names.get(name) is not value:
                    first = first or f"{owner}.{name}"
                    put_member(one, names, name, value)
            for name in self.hiding(k - self.others) if one is not None else ():
                first = first or f"{owner}.{name}"
                type.__delattr__(one, name)
            if k in self.contents and k not in self.restless and first is None and is_same(names, self.contents[k]):
                first = f"a member of {owner} for a while"
        return first

    def hiding(self, number):
        """Returns the new names of a class that hide what its base has, as `torch.Tensor.relu = ...` does."""
        one = self.classes[number]
        return [name for name in vars(one).keys() - self.names_of_classes[number] - ADDED_BY_PYTHON
                if any(name in vars(base) for base in one.__mro__[1:])]


def is_guests(one):
    """Whether a class is the guest's, which changes its own while a candidate runs."""
    return str(one.__module__).startswith("tritonsmith_guest")


def is_same(names, before):
    return len(names) == len(before) and all(names.get(name, before) is value for name, value in before.items())


def put_member(one, names, name, value):
    if one is None:
        names[name] = value
    else:
        type.__setattr__(one, name, value)


def functions_in(value):
    """Returns the functions whose code is what an attribute does."""
    inner = (value.fget, value.fset, value.fdel) if type(value) is property else (
        value.__func__ if isinstance(value, (staticmethod, classmethod)) else value,)
    return [each for each in inner if type(each) is FunctionType]
