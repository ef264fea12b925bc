"""Further calls of forward, for a module whose Python keeps something that changes from call to call (kept_state.py).

What changes may have no effect on the plan: a count of calls for a log, a cache, a choice between workspaces. So the calls go on
until the state repeats, or many times. Then what changes is set to what it will be much later (set_forward.py), above all near the
numbers that the file's own functions hold, such as 1000 in `if self.calls > 1000`. If something changes that cannot be set forward,
nothing is set, and the calls go on. Each call must take the steps of the call before it.
"""

import math
import random
import time

from . import process_answers
from .decisions import decisions_of
from .errors import CaptureStop, forget_stop
from .kept_state import in_words
from .readings import readings_of
from .set_forward import Container, Iterators, Number
from .usual_names import are_usual

CALLS, LEAST_CALLS = 128, 16
STEPS = 4096   # of all calls together, beyond the least number of calls
# If nothing can be set forward, the guest calls on within these limits. The seconds are those of the processor, so a busy host
# changes nothing.
FAR_CALLS, FAR_STEPS, FAR_SECONDS = 250, 4_000, 1.0
LATER_SECONDS = 1.5  # of the processor, for the calls on what was set forward
REST = 100     # after so many calls the guest asks whether the state has stopped changing
WATCHED = 8    # the guest watches so many calls for a state that repeats
MUCH_LATER = (200, 256, 500, 512, 1000, 1024, 2048, 5000, 10_000, 100_000, 1_000_000)
JUMPS = 100    # at most
# Words of a generator's state from which it draws nothing but zeros, ones, and ones behind a zero. The last one gives the largest
# number below a power of two.
EXTREME_WORDS = (0, 0x12DD9BB3, 0x92CDB9B7)


class Changes:
    """What changes by equal steps in two calls, given the snapshots before, between and after them."""

    def __init__(self, one, two, now):
        self.moving = []  # what can be set forward, and its step
        for key, thing in now.movable.items():
            before = [each.movable.get(key) for each in (one, two)]
            if all(type(each) is type(thing) for each in before):
                steps = before[1].size - before[0].size, thing.size - before[1].size
                if steps[0] and math.isclose(*steps, rel_tol=1e-6):
                    self.moving.append((thing, steps[1]))
        self.iterators = list(now.iterators.values())
        # How many calls ahead all of it can be set. Beyond that the parts would no longer fit together.
        self.reach = min((thing.longest / step for thing, step in self.moving if step > 0), default=float("inf"))
        # The size and the step of what moves, and of the numbers that say how far an iterator is.
        self.sizes = [(thing.size, step) for thing, step in self.moving]
        self.sizes += [(size, size - two.positions[key]) for key, size in now.positions.items() if two.positions.get(key, size) != size]
        moved = {thing.path for thing, _ in self.moving if not isinstance(thing, Number)} | now.iterators.keys()
        earlier, later = two.by_path(), now.by_path()
        # Whether all that changes can be set. What else changes may belong together with what can be set, as the keys of a cache
        # with the number of the call, so that setting the number alone would make a state that never comes.
        self.can_be_set = not (two.ended or now.ended) and all(
            earlier.get(path) == later.get(path) or is_within(path, moved) for path in earlier.keys() | later.keys())


def is_within(path, moved):
    while path is not None and path not in moved:
        path = path[0]
    return path is not None


def calls_of(steps):
    """Returns how often a module is called whose calls take so many steps."""
    return min(CALLS, max(LEAST_CALLS, STEPS // max(1, steps)))


class FurtherCalls:
    """One use. `states` are the snapshots after the last two calls."""

    def __init__(self, state, states, call_again, source, path, calls=CALLS):
        """call_again(may_repeat_first=False) calls forward once more, and returns how that call differs from the one before, or
        None. Instead it may repeat the first call, if so asked. `source` is the text of the file, and `path` its name. There are at
        most so many `calls` before something is set forward."""
        self.calls = calls
        self.state, self.states, self.call_again, self.source, self.path = state, states, call_again, source, path

    def run(self, steps):
        """Returns how a call differs from the one before, as an error, or None. `steps` is the number of steps of a call."""
        readings = None
        found, is_at_rest = (None, False) if process_answers.asks() else self.come_to_rest()
        if found:
            return found
        if is_at_rest:
            if are_usual(self.states[-1].functions, self.state.names):
                return None
            readings = readings_of(self.state, self.call_again, self.source, self.path)
            found, differs = readings.differ() if readings else (None, False)
            if found or not differs:
                return found
        for _ in range(min(self.calls, calls_of(steps))):
            if found := self.call_again():
                return self.explained(found)
        if found := self.run_with_extreme_draws():
            return found
        found, changes = self.watch()
        # What grows may be counted elsewhere, too, such as the weak references to an object.
        if not found and (not changes.can_be_set or any(isinstance(thing, Container) for thing, _ in changes.moving)):
            found = self.run_on(steps)
            if not found and changes.can_be_set:
                found, changes = self.watch()
        if not found and (decisions := decisions_of(self.state, self.call_again, self.source, self.path)):
            found = decisions.run()
            if not found and changes.can_be_set:  # iterators are further now
                found, changes = self.watch()
        if not found and (readings := readings or readings_of(self.state, self.call_again, self.source, self.path)):
            found = readings.run(self.distances)
            if not found and changes.can_be_set:
                found, changes = self.watch()
        return found or (self.run_later(changes) if changes.can_be_set else None)

    def come_to_rest(self):
        """Calls while the state changes, but not often. Returns how a call differs from the one before, or None, and whether the state
        repeats."""
        if not self.states[0].may_differ(self.states[1]):
            return None, True
        for _ in range(WATCHED):
            if found := self.call_again():
                return self.explained(found), False
            now = self.state.snapshot()
            if any(not earlier.may_differ(now) for earlier in self.states):
                return None, True
            self.states.append(now)
        return None, False

    def watch(self):
        """Calls twice. Returns how a call differs from the one before, or None, and else what changed."""
        snapshots = [self.state.snapshot()]
        for _ in range(2):
            if found := self.call_again():
                return self.explained(found), None
            snapshots.append(self.state.snapshot())
        return None, Changes(*snapshots)

    def run_on(self, steps):
        """Calls on, until the state comes to rest."""
        end = time.process_time() + FAR_SECONDS
        for call in range(min(FAR_CALLS * self.calls // CALLS, FAR_STEPS // max(1, steps))):
            before = self.state.snapshot() if call % REST == 0 else None
            if found := self.call_again():
                return self.explained(found)
            is_at_rest = before is not None and before.tokens == self.state.snapshot().tokens
            if is_at_rest or time.process_time() > end:
                break
        return None

    def run_with_extreme_draws(self):
        """Calls with the file's own generators drawing the least numbers, and the largest. Who draws once in a while does otherwise
        at such numbers, such as `self.random.random() < 0.01`."""
        generators = self.states[-1].generators
        before = [random.Random.getstate(each) for each in generators]
        for word in EXTREME_WORDS:
            for generator in generators:
                random.Random.setstate(generator, (3, (word,) * 624 + (0,), None))
            if generators and (found := self.call_again()):
                return self.explained(found)
        for generator, state in zip(generators, before):
            random.Random.setstate(generator, state)
        return None

    def run_later(self, changes):
        iterators, end = Iterators(changes.iterators), time.process_time() + LATER_SECONDS
        try:
            for calls in self.distances(changes.sizes) if changes.moving or changes.iterators else ():
                if calls > changes.reach or time.process_time() > end:
                    break
                for thing, step in changes.moving:
                    thing.set_forward(step, calls)
                iterators.set_forward(calls)
                if found := self.call_again():
                    return self.explained(found)
        except CaptureStop as stopped:
            if isinstance(stopped.__context__, CaptureStop):
                raise
            forget_stop()  # Python failed, and no calls may lead to this state
        except Exception:  # something of the file would not be set
            pass
        return None

    def distances(self, sizes):
        """Returns how many calls ahead to look, given the sizes and the steps of what changes."""
        named = [calls_until(constant, size, step) + near for size, step in sizes
                 for constant in (0, *self.states[-1].constants) for near in (-1, 0, 1)]
        return sorted({*(ahead for ahead in named if 0 < ahead < 1 << 40), *MUCH_LATER})[:JUMPS]

    def explained(self, found):
        one, two = self.states[:2]
        positions = (position for position, (first, second) in enumerate(zip(one.tokens, two.tokens)) if first != second)
        position = next(positions, min(len(one.tokens), len(two.tokens)))
        if one.tokens != two.tokens:
            found.message += f"; {in_words(two.path_of(position))} changes from call to call"
        return found


def calls_until(number, value, step):
    """Returns after how many steps the value reaches the number, or 0 if no float can say so."""
    try:
        return int((number - value) // step)
    except (OverflowError, ValueError):
        return 0

