"""Further calls of forward, for a module whose Python keeps something that changes from call to call (kept_state.py).

What changes may have no effect on the plan: a count of calls for a log, a cache, a choice between workspaces. So the calls go on
until the state repeats, or many times. If nothing changes but numbers that grow by equal steps, they are then set to what they
will be much later, above all near the numbers that the file's own functions hold, such as 1000 in `if self.calls > 1000`. Anything
else that still changes cannot be set forward, such as an iterator or the length of a list: then the calls go on, for some seconds
at most. Each call must take the steps of the call before it.
"""

import random
import time

from . import process_answers
from .kept_state import in_words

CALLS, LEAST_CALLS = 128, 16
STEPS = 4096   # of all calls together, beyond the least number of calls
# Of the calls that go on because nothing can be set forward. The seconds are the processor's, so that a busy host changes nothing.
FAR_CALLS, FAR_STEPS, FAR_SECONDS = 1_000, 4_000, 4.0
REST = 100     # so often it is asked whether the state has come to rest meanwhile
WATCHED = 8    # so many calls are watched for a state that repeats
MUCH_LATER = (200, 256, 500, 512, 1000, 1024, 2048, 5000, 10_000, 100_000, 1_000_000)
JUMPS = 64     # at most
# Words of a generator's state from which it draws nothing but zeros, ones, and ones behind a zero. The last one gives the largest
# number below a power of two.
EXTREME_WORDS = (0, 0x12DD9BB3, 0x92CDB9B7)


class FurtherCalls:
    """One use. `states` are the snapshots after the last two calls."""

    def __init__(self, state, states, call_again):
        """call_again() calls forward once more, and returns how that call differs from the one before, or None."""
        self.state, self.states, self.call_again = state, states, call_again

    def run(self, steps):
        """Returns how a call differs from the one before, as an error, or None. `steps` is the number of steps of a call."""
        asks_time = process_answers.asks_time()
        if not asks_time and not self.states[0].may_differ(self.states[1]):
            return None
        calls = min(CALLS, max(LEAST_CALLS, STEPS // max(1, steps)))
        for call in range(calls):
            if found := self.call_again():
                return self.explained(found)
            if call < WATCHED and not asks_time:
                now = self.state.snapshot()
                if any(not earlier.may_differ(now) for earlier in self.states):
                    return None
                self.states.append(now)
        return self.run_with_extreme_draws() or self.run_much_later() or self.run_on(steps)

    def run_on(self, steps):
        """Calls on if something else than counters changes, until it comes to rest."""
        end = time.process_time() + FAR_SECONDS
        for call in range(min(FAR_CALLS, FAR_STEPS // max(1, steps)) if not self.counters() else 0):
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
        for word in EXTREME_WORDS:
            for generator in self.states[-1].generators:
                random.Random.setstate(generator, (3, (word,) * 624 + (0,), None))
            if self.states[-1].generators and (found := self.call_again()):
                return self.explained(found)
        return None

    def run_much_later(self):
        counters = self.counters()
        for ahead in self.distances(counters):
            for container, key, value, step in counters:
                put(container, key, value + step * ahead)
            if found := self.call_again():
                return self.explained(found)
        return None

    def counters(self):
        """Returns the container, the key, the value and the step of each number that changes. Returns nothing if anything else
        changes."""
        one, two = self.states[-2:]
        now = self.state.snapshot()
        if not len(one.tokens) == len(two.tokens) == len(now.tokens):
            return []
        places = [place for place, (first, second) in enumerate(zip(one.tokens, two.tokens)) if first != second]
        if not all(place in now.numbers and place in one.numbers for place in places):
            return []
        return [(*now.numbers[place], now.tokens[place][1], two.tokens[place][1] - one.tokens[place][1]) for place in places
                if two.tokens[place][1] != one.tokens[place][1]]

    def distances(self, counters):
        """Returns how many calls ahead to look."""
        named = [calls_until(constant, value, step) + near for _, _, value, step in counters
                 for constant in self.states[-1].constants for near in (-1, 0, 1)]
        return sorted({*(ahead for ahead in named if 0 < ahead < 1 << 40), *MUCH_LATER})[:JUMPS] if counters else []

    def explained(self, found):
        one, two = self.states[:2]
        places = (place for place, (first, second) in enumerate(zip(one.tokens, two.tokens)) if first != second)
        place = next(places, min(len(one.tokens), len(two.tokens)))
        if one.tokens != two.tokens:
            found.message += f"; {in_words(two.path_of(place))} changes from call to call"
        return found


def calls_until(number, value, step):
    """Returns after how many steps the value reaches the number, or 0 if no float can say so."""
    try:
        return int((number - value) // step)
    except (OverflowError, ValueError):
        return 0


def put(container, key, value):
    """Sets a number to another value where a snapshot found it."""
    if isinstance(container, (dict, list)):
        container[key] = value
    elif isinstance(container, type):
        type.__setattr__(container, key, value)
    else:
        setattr(container, key, value)
