"""Setting forward makes what a module's Python keeps into what it will be after many more calls of forward.

A number is set to a later value. A list, a deque, a set, a dictionary or a text that grows is lengthened, and one that shrinks is
shortened. An iterator or a generator is advanced, by one element for each call. The state that arises may be one that no calls lead
to. For example, a list and a text that names its last element no longer fit together.
"""

import collections
import contextvars
import itertools
import time

LONGEST = 20_000        # containers are not made longer: some modules trim theirs one by one
FURTHEST = 1 << 20      # iterators are not advanced further, and texts not made longer
ADVANCE_SECONDS = 0.5   # of the processor, for all iterators of a module together
ADVANCE_AT_ONCE = 4096  # elements between two looks at the clock
SIGHT = 20_000          # elements of a sequence that are looked at
FEW = 16                # a sequence whose elements differ from their neighbours at more positions is no flag


class Number:
    """An int or a float, where a snapshot found it."""

    longest = float("inf")

    def __init__(self, container, key, value):
        self.container, self.key, self.size = container, key, value

    def set_forward(self, step, calls):
        put(self.container, self.key, self.size + step * calls)


class Text:
    """A str or bytes that grows or shrinks, where a snapshot found it."""

    longest = FURTHEST

    def __init__(self, container, key, value, path):
        self.container, self.key, self.value, self.size, self.path = container, key, value, len(value), path

    def set_forward(self, step, calls):
        if step > 0:
            put(self.container, self.key, self.value + self.value[-step:] * calls)
        else:
            put(self.container, self.key, self.value[-step * calls:])


class Container:
    """A list, deque, bytearray, set or dictionary that grows or shrinks."""

    longest = LONGEST

    def __init__(self, value, path):
        self.value, self.size, self.path = value, len(value), path

    def set_forward(self, step, calls):
        missing = self.size + step * calls - len(self.value)
        if step > 0 and missing > 0:
            self.lengthen(step, missing)
        for _ in range(min(-missing, len(self.value)) if step < 0 else 0):
            self.drop_one()

    def lengthen(self, step, missing):
        value = self.value
        if isinstance(value, set):
            value.update(object() for _ in range(missing))
        elif isinstance(value, dict):
            key, last = next(reversed(value.items()))
            for position in range(1, missing + 1):
                value[next_key(key, position)] = last
        else:
            last = list(itertools.islice(reversed(value), step))[::-1]
            value.extend(itertools.islice(itertools.cycle(last), missing))

    def drop_one(self):
        value = self.value
        if isinstance(value, (set, collections.deque)):
            value.pop()
        elif isinstance(value, dict):
            value.popitem()
        else:
            del value[-1]


class Iterators:
    """The iterators and generators of a module, which advance together."""

    def __init__(self, iterators):
        self.iterators, self.call = list(iterators), 0
        self.seconds_left = ADVANCE_SECONDS

    def set_forward(self, calls):
        """Advances them to what they are when forward is called for the `calls`-th time from now on, and counts that call. Any code
        of the file may run."""
        for iterator in self.iterators:
            missing, end = calls - self.call, time.process_time() + self.seconds_left
            while 0 < missing <= FURTHEST and time.process_time() < end:
                part = min(missing, ADVANCE_AT_ONCE)
                try:
                    collections.deque(itertools.islice(iterator, part), 0)
                except Exception:  # what it raises here it would raise in forward
                    break
                missing -= part
            self.seconds_left = end - time.process_time()
        self.call = max(calls, self.call) + 1


def next_key(key, position):
    """Returns a key that may follow: a later number, a longer text, or anything."""
    return key + position if type(key) is int else f"{key}_{position}" if type(key) is str else object()


def numbers_of_flags(sequence):
    """Returns the positions at which an iterator over the sequence ends or begins to give something else."""
    size = len(sequence)
    if not isinstance(sequence, (list, tuple)) or size > SIGHT:
        return [size]
    changes = [position for position in range(1, size) if type(sequence[position]) in (int, bool, str, type(None)) and
               sequence[position] != sequence[position - 1]]
    return [size, *changes] if len(changes) <= FEW else [size]


def put(container, key, value):
    """Sets an item or an attribute where a snapshot found it. Runs no code of the file."""
    if isinstance(container, dict):
        dict.__setitem__(container, key, value)
    elif isinstance(container, list):
        list.__setitem__(container, key, value)
    elif isinstance(container, type):
        type.__setattr__(container, key, value)
    elif isinstance(container, contextvars.ContextVar):
        container.set(value)
    elif hasattr(type(container), "flat"):  # an array of NumPy
        container.flat[key] = value
    else:
        object.__setattr__(container, key, value)
