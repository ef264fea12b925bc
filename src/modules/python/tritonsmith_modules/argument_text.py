"""Writes the arguments of a constructor or a call as Python text, in which names mean what they mean in a module."""

import builtins
import collections
import dataclasses
import enum
import functools
import inspect
import math
import sys
import types

from .problem import Problem
from .tensor_text import text_of as text_of_tensor

MAX_DEPTH = 12
MAX_TEXT = 20000  # characters
STDLIB = ("argparse", "collections", "functools", "math", "operator", "types")
TORCH_MODULES = ("torch.nn", "torch.nn.functional", "torch", "torch.nn.init")


def call_text(positional, keywords, module, name_of):
    """Returns the arguments as a call has them. `name_of` gives an argument's name for a message."""
    parts = [ArgumentText(module, name_of(i)).text(value) for i, value in enumerate(positional)]
    parts += [f"{name}={ArgumentText(module, name).text(value)}" for name, value in keywords.items()]
    text = ", ".join(parts)
    if len(text) > MAX_TEXT:
        raise Problem(f"its arguments are longer than {MAX_TEXT} characters as text")
    return text


class ArgumentText:
    def __init__(self, module, name):
        self.module, self.name = module, name

    def text(self, value, depth=0):
        import torch
        if depth > MAX_DEPTH:
            raise Problem(f"`{self.name}` is nested more than {MAX_DEPTH} deep")
        if isinstance(value, enum.Enum):
            return f"{self.name_of(type(value))}.{value.name}"
        if isinstance(value, float) and not math.isfinite(value):
            return f"float('{float(value)}')"
        if value is None or type(value) in (bool, int, float, str):
            return repr(value)
        if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
            return self.text(value.item(), depth + 1)
        if isinstance(value, (torch.Tensor, torch.dtype, torch.device)):
            return text_of_tensor(value, f"`{self.name}`")
        if type(value) in (list, tuple, torch.Size, set):
            return self.sequence(value, depth)
        if type(value) in (dict, collections.OrderedDict):
            items = (f"{self.text(key, depth + 1)}: {self.text(each, depth + 1)}" for key, each in value.items())
            return f"{{{', '.join(items)}}}"
        if isinstance(value, functools.partial):
            return self.call(functools.partial, [value.func, *value.args], value.keywords, depth)
        if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
            return self.name_of(value)
        if isinstance(value, torch.nn.Module):
            return self.submodule(value, depth)
        return self.object(value, depth)

    def sequence(self, value, depth):
        inner = ", ".join(self.text(each, depth + 1) for each in value)
        if type(value) is list:
            return f"[{inner}]"
        if type(value) is set:
            return f"{{{inner}}}" if value else "set()"
        return f"({inner}{',' if len(value) == 1 else ''})"

    def call(self, function, positional, keywords, depth):
        parts = [self.text(each, depth + 1) for each in positional]
        parts += [f"{name}={self.text(each, depth + 1)}" for name, each in keywords.items()]
        return f"{self.name_of(function)}({', '.join(parts)})"

    def submodule(self, value, depth):
        construction = value.__dict__.get("_tritonsmith_construction")
        if not getattr(construction, "is_known", False):
            raise Problem(f"`{self.name}` is a {type(value).__name__} whose constructor was not seen")
        return self.call(type(value), construction.positional, construction.keywords, depth)

    def object(self, value, depth):
        """Writes an object by its constructor, if its attributes have the names of the constructor's parameters."""
        kind = type(value)
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            return self.call(kind, [], value._asdict(), depth)
        if kind.__module__ in ("argparse", "types"):
            return self.call(kind, [], self.writable(vars(value), depth), depth)
        if dataclasses.is_dataclass(value):
            given = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
        else:
            given = arguments_by_attribute(value)
        if given is None:
            raise Problem(f"`{self.name}` is a {kind.__name__}, which cannot be written as text")
        return self.call(kind, [], given, depth)

    def writable(self, attributes, depth):
        """Leaves out what cannot be written: of a script's many options a module reads a few."""
        kept = {}
        for name, value in attributes.items():
            try:
                self.text(value, depth + 1)
                kept[name] = value
            except Problem:
                pass
        return kept

    def name_of(self, thing):
        """Returns the name by which the module reaches a class or a function."""
        name = getattr(thing, "__name__", "")
        space = vars(sys.modules.get(self.module, builtins))
        if getattr(builtins, name, None) is thing and space.get(name, thing) is thing:
            return name
        bound = [name] if space.get(name) is thing else [other for other, value in space.items() if value is thing]
        if bound:
            return bound[0]
        for other, value in space.items():
            if isinstance(value, types.ModuleType) and name and vars(value).get(name) is thing:
                return f"{other}.{name}"
        torch = sys.modules["torch"]
        for module in TORCH_MODULES:
            if space.get("torch", torch) is torch and vars(sys.modules[module]).get(name) is thing:
                return f"{module}.{name}"
        home = getattr(thing, "__module__", None) or ""
        if home in STDLIB and vars(sys.modules[home]).get(name) is thing:
            return f"__import__('{home}').{name}"
        kind = "class" if isinstance(thing, type) else "function"
        if name == "<lambda>":
            raise Problem(f"`{self.name}` is a lambda, which has no name")
        raise Problem(f"`{self.name}` needs the {kind} {name}, which the module's file does not import at its top")


def arguments_by_attribute(value):
    """Returns the constructor's arguments if the attributes of their names make an equal object, else None."""
    try:
        parameters = list(inspect.signature(type(value)).parameters.values())
        if any(each.kind in (each.VAR_POSITIONAL, each.POSITIONAL_ONLY) for each in parameters) or not vars(value):
            return None
        given = {each.name: getattr(value, each.name) for each in parameters if each.kind is not each.VAR_KEYWORD}
        if any(each.kind is each.VAR_KEYWORD for each in parameters):
            given.update((name, each) for name, each in vars(value).items() if name not in given and name[0] != "_")
        again = vars(type(value)(**given))
        return given if again.keys() == vars(value).keys() and all(is_same(again[k], v) for k, v in vars(value).items()) else None
    except Exception:  # the class is foreign code
        return None


def is_same(one, other):
    if one is other:
        return True
    same = type(one) is type(other) and one == other
    return same if isinstance(same, bool) else False
