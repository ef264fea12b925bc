"""KeptState finds out whether a module's Python keeps something that changes from call to call, such as a count of calls.

A snapshot lists what can be reached from the module, from its file's names, and from the settings of a process that code may
change: numbers, texts, sizes of containers, the state of iterators and generators. Tensors count by their form, since a plan
holds what happens to their values. Two snapshots that are equal say that nothing was seen to change. Other people's modules
and classes are left out, except for numbers that they hold themselves.

A snapshot runs no code of the file: it asks only for what Python itself answers. A snapshot may be wrong in both directions. A
difference costs more calls of forward and decides nothing, and what hides from it is not called often enough.
"""

import bisect
import collections
import contextvars
import dis
import functools
import gc
import itertools
import math
import operator
import random
import re
import sys
import threading
import types
import weakref

import torch

from .guards import FAKE, Watch
from .languages import PACKAGES
from .set_forward import Container, Number, Text, numbers_of_flags

NODES = 20000  # a snapshot stops there
COUNTERS = 8  # an array of so many numbers may hold counts
BYTES = 1 << 20  # of an array that a snapshot reads
ATOMS = {int, str, bytes, bool, complex, type(None), type(Ellipsis), type(NotImplemented), range}
# These never change, or only Python's compiler makes them.
FIXED = (types.CodeType, types.FrameType, types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType,
         types.MethodDescriptorType, types.ClassMethodDescriptorType, torch.dtype, torch.device, torch.layout,
         torch.memory_format, torch.finfo, torch.iinfo)
ITERATORS = {itertools.count, itertools.cycle, itertools.chain, itertools.islice, itertools.repeat, itertools.product,
             itertools.permutations, itertools.combinations, itertools.accumulate, itertools.compress, itertools.dropwhile,
             itertools.takewhile, itertools.filterfalse, itertools.starmap, itertools.zip_longest, enumerate, zip, map, filter,
             reversed, *(type(iter(each)) for each in ([], (), "", b"", {}, set(), range(1), range(1 << 70), {}.values(), {}.items()))}
CONTAINERS = (dict, list, set)
GROWING = {dict, list, set, collections.deque, collections.OrderedDict, collections.defaultdict, collections.Counter, bytearray}
# Classes whose state is in attributes, or in what an instance refers to.
PLAIN = {object, dict, list, tuple, set, frozenset, int, float, str, bytes, BaseException, property, staticmethod, classmethod,
         super, types.MappingProxyType, types.GenericAlias, types.SimpleNamespace, functools.partial, collections.deque,
         collections.defaultdict, collections.OrderedDict, weakref.ProxyType, slice, operator.itemgetter, operator.attrgetter,
         operator.methodcaller, torch.Size, type(int | str), types.BuiltinFunctionType, re.Pattern, type(threading.Lock()),
         type(threading.RLock())}
SETS_ATTRIBUTE = dis.opmap["STORE_ATTR"]
HEAP, IMMUTABLE = 1 << 9, 1 << 8  # flags of a type


def module_of(kind):
    """Returns the name of a class's module. No metaclass of the file can answer in its place."""
    return str(type.__dict__["__module__"].__get__(kind))


def slots_of(value):
    """Returns the values of the slots that class statements made, by name."""
    found = {}
    for base in type(value).__mro__:
        for name, slot in type.__getattribute__(base, "__dict__").items() if is_made_by_python(base) else ():
            if type(slot) is types.MemberDescriptorType:
                try:
                    found[name] = slot.__get__(value)
                except AttributeError:  # nothing was assigned
                    pass
    return found


def is_made_by_python(kind, known={}):
    """Whether a class statement made the class, so that all its instances' state is in attributes."""
    if not kind.__flags__ & HEAP or kind.__flags__ & IMMUTABLE or type(kind).__name__ == "pybind11_type":
        return False
    if id(kind) not in known:
        names = type.__getattribute__(kind, "__dict__")
        known[id(kind)] = kind, not any(type(value) is types.MethodDescriptorType for value in names.values())
    return known[id(kind)][1]


def is_number(value):
    return type(value) is int or type(value) is float and math.isfinite(value)


def attributes_of(value):
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        found = None
    return found if isinstance(found, (dict, types.MappingProxyType)) else {}


def settings_of(modules):
    """Returns settings of the process that can be read and set as a counter can, if the file has their module."""
    found = [torch.initial_seed(), torch.get_num_threads(), str(torch.get_default_dtype())]
    if "os" in modules:
        found += sorted(modules["os"].environ.items())
    if "decimal" in modules:
        context = modules["decimal"].getcontext()
        found += [context.prec, context.Emax, context.Emin]
    if "csv" in modules:
        found.append(modules["csv"].field_size_limit())
    if "numpy" in modules:
        found.append(str(modules["numpy"].random.get_state()))
    return found


class RecursionLimit:
    """Setting its attribute sets the limit, as setting the attribute of another object sets a count."""
    limit = property(None, lambda self, value: sys.setrecursionlimit(value))


RECURSION = RecursionLimit()


class Snapshot:
    """A snapshot holds what the search found, in its order. Equal snapshots have equal `tokens`."""

    def __init__(self):
        self.tokens = []
        self.paths = []      # the first index in tokens of each thing that was found, and the path to it
        self.movable = {}    # what can be set forward: where it is, or its id -> a Number, Text or Container
        self.iterators = {}  # the path to an iterator or a generator -> it
        self.positions = {}  # id of an iterator, and a name -> a number that says how far the iterator is
        self.explained = set()  # the indices in tokens of numbers that can be set, and of random generators
        self.generators = []  # the generators of random numbers that were found
        self.functions = []  # the functions of the file, but for kernels
        self.containers = []  # lists, dictionaries and their like
        self.members = []     # (object, name, value) of what other objects hold
        self.opaque = None   # the name of a type that may keep state where Python does not see it
        self.ended = False   # too much was found
        self.stores = False  # whether a function of the file, other than a constructor, sets an attribute
        self.names = set()   # names that the file's functions use
        self.constants = set()  # numbers in the file's functions

    def path_of(self, index):
        """Returns the path to what has this index in tokens, or None."""
        at = bisect.bisect_right(self.paths, index, key=operator.itemgetter(0))
        return self.paths[at - 1][1] if at else None

    def by_path(self):
        """Returns for each path the tokens there. None stands for a token that may change, since it can be set."""
        found = collections.defaultdict(list)
        indices = [index for index, _ in self.paths] + [len(self.tokens)]
        for (begin, path), end in zip(self.paths, indices[1:]):
            found[path] += [None if index in self.explained else self.tokens[index] for index in range(begin, end)]
        return found

    def may_differ(self, other):
        """Whether the module's Python keeps something else, or may do so where no snapshot sees it."""
        return bool(self.opaque or self.ended or self.tokens != other.tokens)


class KeptState:

    def __init__(self, model, module, of_kernels_too=True):
        """`of_kernels_too` says whether the numbers count that kernels hold themselves, which their first launch changes."""
        self.model, self.names, self.of_kernels_too = model, module.__dict__, of_kernels_too
        self.asks = set()  # names of the file's functions, once known

    def snapshot(self):
        found, before = Snapshot(), Watch.inside
        Watch.inside = True  # the audit hook looks at what a candidate reads
        try:
            self.search(found)
        except Exception:  # an object of the file may refuse any answer, so its state is not known
            found.ended = True
        finally:
            Watch.inside = before
        return found

    def search(self, found):
        self.seen, self.alive = {id(self.names): "names"}, []
        names = {name: value for name, value in self.names.items() if name != "__builtins__"}
        self.stack, self.kernels = [(self.model, (None, "self"), None, None)], set()
        found.containers.append(self.names)
        self.push([(value, (None, name), self.names, name) for name, value in names.items()])
        while self.stack and len(found.tokens) <= NODES:
            self.visit(found, *self.stack.pop())
        found.ended = bool(self.stack)
        self.asks |= found.names
        modules = {value.__name__: value for value in names.values() if type(value) is types.ModuleType}
        found.paths.append((len(found.tokens), None))
        found.tokens += settings_of(modules)
        if "sys" in modules:
            self.number(found, sys.getrecursionlimit(), RECURSION, "limit")
            found.tokens.append((int, sys.getrecursionlimit()))
        if found.stores:
            self.visit_libraries(found, list(modules.values()))

    def visit_libraries(self, found, modules):
        """Adds the numbers that other people's modules hold, and other people's objects whose names the file's functions use."""
        for module in modules:  # the list grows
            self.visit_numbers(found, module.__dict__)
            for value in (module.__dict__[name] for name in sorted(self.asks & module.__dict__.keys())):
                if type(value) is not types.ModuleType:
                    self.visit_numbers(found, attributes_of(value))
                elif value not in modules:
                    modules.append(value)

    def visit(self, found, value, path, container, key):
        kind = type(value)
        found.paths.append((len(found.tokens), path))
        if container is not None and type(container) not in GROWING:
            found.members.append((container, key, value))
        if kind in ATOMS or kind is float:
            if is_number(value) and container is not None:
                self.number(found, value, container, key)
            elif kind in (str, bytes) and container is not None:
                found.movable[id(container), key] = Text(container, key, value, path)
            found.tokens.append((kind, value if value == value else "nan"))
            return
        if id(value) in self.seen:
            found.tokens.append(self.seen[id(value)])
            return
        self.seen[id(value)] = "seen", path
        self.alive.append(value)
        found.tokens.append(kind)
        if kind in GROWING:
            found.containers.append(value)
        if kind in GROWING and (container is not None or kind is not dict):  # no attributes of an object
            found.movable[id(value)] = Container(value, path)
        if kind is dict:
            found.tokens.append(len(value))
            self.push_items(value, path)
        elif kind is list:
            found.tokens.append(len(value))
            self.push([(inner, (path, index), value, index) for index, inner in enumerate(value)])
        elif kind is tuple:
            self.push([(inner, (path, index), None, None) for index, inner in enumerate(value)])
        elif kind in (set, frozenset):
            found.tokens += [len(value), *sorted(repr(inner) for inner in value if type(inner) in ATOMS)]
        elif issubclass(kind, torch.Tensor):
            self.visit_tensor(found, value, path)
        else:
            self.visit_object(found, value, kind, path, container)

    def number(self, found, value, container, key):
        found.movable[id(container), key] = Number(container, key, value)
        found.explained.add(len(found.tokens))

    def visit_numbers(self, found, names):
        """Visits what a module or an object of other people holds that a file may count by."""
        for name, value in names.items():
            if is_number(value):
                self.number(found, value, names, name)
            if type(value) in ATOMS or type(value) is float or type(value) in CONTAINERS:
                found.tokens.append((name, len(value) if type(value) in CONTAINERS else value if value == value else "nan"))

    def push_items(self, value, path):
        self.push([(inner, (path, name if type(name) in ATOMS else "..."), value, name) for name, inner in dict.items(value)] +
                  [(name, (path, "..."), None, None) for name in dict.keys(value) if type(name) not in ATOMS])

    def push(self, children):
        self.stack += reversed(children)

    def visit_tensor(self, found, tensor, path):
        found.tokens += [tensor.dtype, tuple(tensor.shape), tensor.requires_grad]
        if "_version" in self.asks:
            found.tokens.append(tensor._version)
        attributes = attributes_of(tensor)
        self.push([(value, (path, name), attributes, name) for name, value in attributes.items() if name not in FAKE])
        if tensor._backward_hooks:
            self.push([(tensor._backward_hooks, path, None, None)])

    def visit_object(self, found, value, kind, path, container):
        if issubclass(kind, torch.Generator):
            found.tokens.append(value.initial_seed())
        elif issubclass(kind, types.ModuleType) or module_of(kind).startswith("tritonsmith_guest"):
            found.tokens.append(id(value))
        elif any(value is stream for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)):
            found.tokens.append(id(value))  # every logger holds them; they are pipes, which have no position
        elif issubclass(kind, FIXED) or kind.__name__.startswith("pybind11_detail_function_record"):  # of functions in C++
            found.tokens.append(str(value) if kind is torch.device else id(value))
        elif issubclass(kind, type):
            self.visit_class(found, value, path)
        elif kind is types.FunctionType:
            self.visit_function(found, value, path)
        elif kind is types.CellType:
            self.push([(value.cell_contents, path, value, "cell_contents")] if gc.get_referents(value) else [])
        elif kind in (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType):
            self.visit_generator(found, value, path, container)
        elif kind in (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType):
            self.push([(value.__self__, path, None, None)])
        elif kind in ITERATORS:
            if container is not None:
                found.iterators[path] = value
            state = kind.__reduce__(value)[1:]
            self.look_into(found, id(value), state)
            self.push([(inner, path, None, None) for inner in state])
        elif hasattr(kind, "__next__") and not is_made_by_python(kind):
            if container is not None:
                found.iterators[path] = value
            self.visit_instance(found, value, kind, path)
        elif kind is functools._lru_cache_wrapper:
            answer = kind.cache_info(value)
            found.tokens += answer if "cache_info" in self.asks else [answer.currsize]
            self.push_referents(value, path)
        elif issubclass(kind, random.Random):
            found.explained.add(len(found.tokens))
            found.tokens.append(random.Random.getstate(value))
            found.generators.append(value)
        elif issubclass(kind, weakref.ref):
            found.tokens.append(weakref.ref.__call__(value) is None)
        elif kind is contextvars.ContextVar:
            self.push([(value.get(None), path, value, "value")])
        elif kind is types.TracebackType:
            self.push([(value.tb_next, path, None, None)])
        elif module_of(kind) == "numpy" and hasattr(kind, "flat") and value.dtype.kind in "iuf" and value.size <= COUNTERS:
            for index, number in enumerate(value.ravel().tolist()):
                self.visit(found, number, (path, index), value, index)
        elif module_of(kind) == "numpy" and hasattr(kind, "tobytes"):
            found.tokens.append(hash(value.tobytes() if value.nbytes <= BYTES else value.ravel()[:BYTES // value.itemsize].tobytes()))
        elif kind in (bytearray, memoryview):
            found.tokens.append(hash(bytes(value)))
        else:
            self.visit_instance(found, value, kind, path)

    def visit_class(self, found, value, path):
        if module_of(value) != self.names["__name__"]:
            found.tokens.append(id(value))
        else:
            self.push([(inner, (path, name), value, name) for name, inner in type.__getattribute__(value, "__dict__").items()
                       if name not in ("__dict__", "__weakref__")])

    def visit_function(self, found, value, path):
        if value.__globals__ is self.names:
            if id(value) not in self.kernels:
                found.functions.append(value)
            codes = [value.__code__]
            while codes:
                code = codes.pop()
                found.names.update(code.co_names)
                found.stores |= code.co_name != "__init__" and SETS_ATTRIBUTE in code.co_code[::2]
                found.constants.update(filter(is_number, code.co_consts))
                codes += [one for one in code.co_consts if type(one) is types.CodeType]
            self.push([(value.__defaults__, path, None, None), (value.__kwdefaults__, path, None, None)])
        self.push([(cell, (path, name), None, None)
                   for name, cell in zip(value.__code__.co_freevars, value.__closure__ or ())])
        if value.__dict__:
            self.push([(value.__dict__, path, None, None)])

    def look_into(self, found, iterator, state):
        """Notes what an iterator's state says of how far it is and of when it gives something else."""
        parts = [part for outer in state for part in (outer if type(outer) is tuple else (outer,))]
        for index, part in enumerate(parts):
            if type(part) is int:
                found.positions[iterator, index] = part
            elif type(part) in (list, tuple, str, bytes, range):
                found.constants.update(numbers_of_flags(part))

    def visit_generator(self, found, value, path, container):
        if container is not None and type(value) is types.GeneratorType:
            found.iterators[path] = value
        frame = next((getattr(value, name) for name in ("gi_frame", "cr_frame", "ag_frame") if hasattr(value, name)), None)
        found.tokens.append(None if frame is None else frame.f_lasti)
        if frame is not None:
            found.positions.update({(id(value), name): inner for name, inner in frame.f_locals.items() if type(inner) is int})
            self.push([(inner, (path, name), None, None) for name, inner in frame.f_locals.items()])
        awaited = next((getattr(value, name) for name in ("gi_yieldfrom", "cr_await", "ag_await") if hasattr(value, name)), None)
        self.push([(awaited, (path, "..."), None, None)] if awaited is not None else [])

    def visit_instance(self, found, value, kind, path):
        """Visits the attributes of an instance, and whatever else it refers to."""
        attributes = attributes_of(value)
        if module_of(kind).startswith(PACKAGES):  # objects of languages, such as kernels, hold caches of their own
            if self.of_kernels_too:
                self.visit_numbers(found, attributes)
            self.kernels.add(id(attributes.get("fn")))
            self.push([(inner, (path, name), None, None) for name, inner in attributes.items()
                       if type(inner) in (types.FunctionType, kind) or name == "fn"])
            self.push([(inner, (path, name), None, None) for name, table in attributes.items() if type(table) is dict
                       for inner in table.values() if type(inner) is types.FunctionType])
            return
        if kind.__name__ != "_lru_list_elem" and not all(base in PLAIN or module_of(base).startswith("torch") or is_made_by_python(base) for base in kind.__mro__):
            found.opaque = found.opaque or f"{module_of(kind)}.{kind.__qualname__}"
        if (base := next((base for base in kind.__mro__ if base in (int, float, str, bytes)), None)) is not None:
            found.tokens.append(base.__repr__(value))
        slots = slots_of(value)
        found.tokens.append(len(gc.get_referents(value)))
        self.push_referents(value, path, list(slots.values()))
        if issubclass(kind, dict):
            self.push_items(value, path)
        self.push([(inner, (path, name), value, name) for name, inner in slots.items()])
        if attributes:
            self.stack.append((attributes, path, None, None))

    def push_referents(self, value, path, visited=()):
        """Visits what a value refers to, but for what is visited by its name."""
        known = {id(inner) for inner in visited}
        known |= {id(inner) for item in dict.items(value) for inner in item} if isinstance(value, dict) else set()
        self.push([(inner, (path, "..."), None, None) for inner in gc.get_referents(value)
                   if inner is not type(value) and id(inner) not in known])


def in_words(path):
    """Returns a path as the file would write it, such as `self.calls`."""
    parts = []
    while path is not None:
        path, name = path
        if name not in ("...", "_modules", "_parameters", "_buffers") and str(name) not in parts[-1:]:
            parts.append(f"[{name}]" if type(name) is not str else name)
    words = ".".join(reversed(parts)).replace(".[", "[")
    return f"`{words}`" if words else "something"
