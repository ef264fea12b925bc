"""ValueTokens says what decides in a call, so that values of one call can be compared with those of another.

An object that was there before the call counts by its identity. An object that the call made counts by what it holds: its identity
is another one in each call, and says nothing. So a lambda that a launch makes for its grid, or a list of options, is the same
value in all calls, unless something that it holds changes.
"""

import collections
import functools
import itertools
import types

from .kept_state import ITERATORS, attributes_of, is_made_by_python, module_of, slots_of

ELEMENTS, INNER = 1024, 5  # so many elements of a value are looked at, and so deep
ATOMS = (int, float, str, bytes, bool, complex, type(None))
FIXED = (types.CodeType, range, type(Ellipsis), type(NotImplemented))  # they compare by what they hold
VIEWS = (type({}.keys()), type({}.values()), type({}.items()))
SEQUENCES = (tuple, list, set, frozenset, collections.deque, bytearray)
FRAMES = {types.GeneratorType: "gi_frame", types.CoroutineType: "cr_frame"}


class ValueTokens:
    """Of many calls. It keeps alive what it has met, so that no two objects have one id."""

    def __init__(self, known):
        """`known` are the objects that are there before the first call."""
        self.known = {id(each): each for each in known}
        self.met = {}  # in this call

    def begin_call(self):
        self.known.update(self.met)
        self.met = {}

    def token(self, value, depth=0):
        value = plain(value)
        kind = type(value)
        if kind in ATOMS:
            return value if value == value else "nan"
        if kind in FIXED:
            return value
        if module_of(kind).startswith("torch"):
            return str(kind)
        parts = self.parts_of(value, kind) if depth < INNER else None
        if parts is None:
            self.met[id(value)] = value
            return id(value)
        return kind.__name__, *(self.token(each, depth + 1) for each in parts)

    def parts_of(self, value, kind):
        """Returns what a value holds, or None if only its identity tells it from others."""
        if kind in FRAMES:
            frame = getattr(value, FRAMES[kind])
            return None if frame is None else some(itertools.chain.from_iterable(frame.f_locals.items()))
        if kind is dict:
            return len(value), *some(itertools.chain.from_iterable(dict.items(value)))
        if kind in SEQUENCES or kind in VIEWS:
            return len(value), *some(value)
        if id(value) in self.known:
            return None
        found = made_of(value, kind)
        if found is not None:
            self.met[id(value)] = value
        return found


def some(values):
    return itertools.islice(values, ELEMENTS)


def made_of(value, kind):
    """Returns what an object that a call made holds, or None if Python does not say."""
    if kind is types.FunctionType:
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell_is_full(cell)]
        return value.__code__, value.__defaults__, value.__kwdefaults__, *cells
    if kind is types.MethodType:
        return value.__func__, value.__self__
    if kind in (types.BuiltinMethodType, types.MethodWrapperType):
        return value.__name__, value.__self__
    if kind is types.SimpleNamespace:
        return value.__dict__,
    if kind is slice:
        return value.start, value.stop, value.step
    if kind is functools.partial:
        return value.func, value.args, value.keywords
    if kind in ITERATORS:
        return (*kind.__reduce__(value)[1], *kind.__reduce__(value)[2:])
    if module_of(kind) == "numpy" and hasattr(kind, "tobytes"):
        return str(value.dtype), value.shape, value.tobytes()
    if issubclass(kind, (type, types.ModuleType)) or not is_made_by_python(kind):
        return None
    base = next((base for base in (tuple, list, dict, set, frozenset) if issubclass(kind, base)), None)
    inner = itertools.chain.from_iterable(dict.items(value)) if base is dict else base.__iter__(value) if base else ()
    number = next((base.__repr__(value) for base in (int, float, str, bytes) if issubclass(kind, base)), None)
    members = (*attributes_of(value).items(), *slots_of(value).items())
    return kind, number, *some(inner), *some(itertools.chain.from_iterable(members))


def cell_is_full(cell):
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def plain(value):
    """Returns the Python number that a number of NumPy is, and any other value as it is."""
    is_number = module_of(type(value)) == "numpy" and not hasattr(type(value), "__len__") and hasattr(type(value), "item")
    return value.item() if is_number else value
