"""Tests that a candidate whose Python counts its calls is found out, wherever it keeps the count and whenever it uses it."""

import os
import random
import sys
import time
import unittest
from unittest import mock

sys.path[:0] = [os.environ["TRITONSMITH_GUEST"], os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "testing")]

from captures import capture_candidate, capture_task  # noqa: E402
from tritonsmith_guest import further_calls, guards  # noqa: E402
from tritonsmith_guest.capture import candidate_request, capture  # noqa: E402
from tritonsmith_guest.later_calls import LaterCalls  # noqa: E402

CANDIDATE = """
import collections, contextvars, decimal, functools, itertools, logging, random, sys, weakref
import numpy as np
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

{names}

class ModelNew(nn.Module):
    def __init__(self, *arguments, **named):
        super().__init__()
        {attribute}

    def forward(self, x):
        {count}
        y = torch.empty_like(x)
        programs = 1 if {is_late} else 2
        double[(programs,)](x, y, x.numel(), BLOCK=16)
        return y
"""

# How to count calls: names of the file, an attribute, a statement of forward, and the number of calls before this one.
COUNTERS = {
    "a global": ("calls = -1", "pass", "global calls; calls += 1", "calls"),
    "an attribute": ("", "self.calls = -1", "self.calls += 1", "self.calls"),
    "an attribute of the class": ("class Calls: total = -1", "pass", "Calls.total += 1", "Calls.total"),
    "an attribute of a submodule": ("", "self.inner = nn.Identity(); self.inner.calls = -1", "self.inner.calls += 1", "self.inner.calls"),
    "an attribute of a tensor": ("", "self.w = nn.Parameter(torch.ones(1)); self.w.calls = -1", "self.w.calls += 1", "self.w.calls"),
    "an attribute of a kernel": ("double.calls = -1", "pass", "double.calls += 1", "double.calls"),
    "an attribute of another's function": ("", "pass", "torch.nn.functional.relu.calls = getattr(torch.nn.functional.relu, 'calls', -1) + 1",
                                          "torch.nn.functional.relu.calls"),
    "an attribute of another's module": ("", "pass", "torch.calls = getattr(torch, 'calls', -1) + 1", "torch.calls"),
    "a slot": ("class Count:\n    __slots__ = ('calls',)", "self.count = Count(); self.count.calls = -1", "self.count.calls += 1",
               "self.count.calls"),
    "a closure": ("def counter():\n    n = -1\n    def count():\n        nonlocal n\n        n += 1\n        return n\n    return count\n"
                  "count = counter()", "pass", "n = count()", "n"),
    "a default argument": ("def count(seen=[]):\n    seen.append(1)\n    return len(seen) - 1", "pass", "n = count()", "n"),
    "a generator": ("numbers = (n for n in itertools.repeat(1))\ndef naturals():\n    n = -1\n    while True:\n        n += 1\n        yield n\n"
                    "naturals = naturals()", "pass", "n = next(naturals)", "n"),
    "an iterator": ("", "self.numbers = itertools.count()", "n = next(self.numbers)", "n"),
    "an iterator of a list": ("", "self.numbers = iter(list(range(20_000)))", "n = next(self.numbers)", "n"),
    "a set": ("", "self.seen = set()", "self.seen.add(object())", "len(self.seen) - 1"),
    "a deque": ("seen = collections.deque()", "pass", "seen.append(None)", "len(seen) - 1"),
    "a text": ("", "self.text = ''", "self.text += 'x'", "len(self.text) - 1"),
    "nested tuples": ("def depth(one):\n    n = 0\n    while one is not None:\n        n, one = n + 1, one[0]\n    return n", "self.seen = None",
                      "self.seen = (self.seen,)", "depth(self.seen) - 1"),
    "the size of a cache": ("@functools.lru_cache(None)\ndef kept(one):\n    return one", "pass", "kept(object())",
                            "kept.cache_info().currsize - 1"),
    "the hits of a cache": ("@functools.lru_cache(None)\ndef kept(one):\n    return one", "pass", "kept(1)", "kept.cache_info().hits"),
    "weak references": ("class One: pass\ndef gone(one): pass\none, refs = One(), []", "pass", "refs.append(weakref.ref(one, gone))",
                        "weakref.getweakrefcount(one) - 1"),
    "an exception": ("failure = ValueError()\nfailure.count = -1", "pass", "failure.count += 1", "failure.count"),
    "hooks of a tensor": ("", "self.w = nn.Parameter(torch.ones(1))", "self.w.register_hook(lambda grad: None)",
                          "len(self.w._backward_hooks) - 1"),
    "hooks of a module": ("", "self.inner = nn.Identity()", "self.inner.register_forward_hook(lambda *all: None)",
                          "len(self.inner._forward_hooks) - 1"),
    "a context variable": ("calls = contextvars.ContextVar('calls', default=-1)", "pass", "calls.set(calls.get() + 1)", "calls.get()"),
    "an array": ("calls = np.full(1, -1)", "pass", "calls[0] += 1", "calls[0]"),
    "a logger's level": ("log = logging.getLogger('count'); log.setLevel(1)", "pass", "log.setLevel(log.level + 1)", "log.level - 2"),
    "the precision of decimals": ("", "pass", "decimal.getcontext().prec += 1", "decimal.getcontext().prec - 29"),
    "the depth of recursion": ("first = sys.getrecursionlimit()", "pass", "sys.setrecursionlimit(sys.getrecursionlimit() + 1)",
                               "sys.getrecursionlimit() - first - 1"),
    "a float": ("", "self.share = -0.1", "self.share += 0.1", "round(10 * self.share)"),
    "counts by shape": ("counts = collections.Counter({(32,): -1})", "pass", "counts[(32,)] += 1", "counts[(32,)]"),
    "a number from 0 to 210 in turn": ("", "self.turn = -1", "self.turn = (self.turn + 1) % 211", "self.turn"),
}


def candidate(counter, is_late):
    names, attribute, count, number = counter
    return CANDIDATE.format(names=names, attribute=attribute, count=count, is_late=is_late.format(number))


class Counting(unittest.TestCase):
    def setUp(self):
        self.dice = random.Random(f"calls {self.id()}")
        # Inverted decisions (decisions_test.py) and readings (readings_test.py) would find most of these, and decisions would refuse
        # conditions here that never come true.
        for owner, name, value in ((further_calls, "decisions_of", lambda *all: None), (further_calls, "readings_of", lambda *all: None), (guards.Watch, "put_back", None)):
            replaced = mock.patch.object(owner, name, value)
            replaced.start()
            self.addCleanup(replaced.stop)

    def error_of(self, source):
        return capture_candidate(source).get("error", {})

    def test_a_call_that_differs_is_found_wherever_the_count_is_kept(self):
        for where, counter in COUNTERS.items():
            call = self.dice.randrange(3, 120)
            with self.subTest(where=where, call=call):
                error = self.error_of(candidate(counter, f"{{}} == {call}"))
                self.assertEqual(error.get("class"), "state_carried", error)
                self.assertIn(f"in call {call + 1} ", error["message"])

    def test_a_count_without_an_effect_is_accepted(self):
        for where, counter in COUNTERS.items():
            with self.subTest(where=where):
                self.assertEqual(self.error_of(candidate(counter, "{} < -5")), {})

    def test_numbers_of_the_file_say_which_later_calls_to_look_at(self):
        for where in ("a global", "an attribute", "an attribute of the class", "a closure", "an attribute of a tensor"):
            call = self.dice.randrange(200, 1_000_000)
            for is_late in (f"{{}} == {call}", f"{{}} > {call}", f"{{}} % {call} == {call - 1}"):
                with self.subTest(where=where, is_late=is_late):
                    error = self.error_of(candidate(COUNTERS[where], is_late))
                    self.assertEqual(error.get("class"), "state_carried", error)

    def test_what_cannot_be_set_forward_is_called_on(self):
        for where in ("nested tuples", "the size of a cache", "the hits of a cache", "weak references"):
            call = self.dice.randrange(150, 350)
            with self.subTest(where=where, call=call):
                error = self.error_of(candidate(COUNTERS[where], f"{{}} >= {call}"))
                self.assertEqual(error.get("class"), "state_carried", error)

    def test_containers_and_iterators_are_set_forward(self):
        for where in ("a generator", "an iterator", "a set", "a deque", "a text", "a default argument", "a float", "a slot", "an array",
                      "a context variable", "hooks of a tensor", "hooks of a module", "an attribute of a kernel", "counts by shape"):
            call = self.dice.randrange(300, 19_000)
            with self.subTest(where=where, call=call):
                error = self.error_of(candidate(COUNTERS[where], f"{{}} >= {call}"))
                self.assertEqual(error.get("class"), "state_carried", error)

    def test_an_iterator_that_gives_something_else_in_one_call_is_found(self):
        for flags in ("itertools.repeat(False, {0})", "iter([False] * {0} + [True])", "itertools.cycle([False] * {0} + [True])",
                      "itertools.chain([False] * {0}, [True], itertools.repeat(False))", "(n == {0} for n in itertools.count())",
                      "map(({0}).__eq__, itertools.count())"):
            call = self.dice.randrange(500, 5000)
            source = candidate(("", f"self.flags = {flags.format(call)}", "is_late = next(self.flags, True)", "is_late"), "{}")
            with self.subTest(flags=flags, call=call):
                self.assertEqual(self.error_of(source).get("class"), "state_carried")

    def test_containers_that_shrink_are_emptied(self):
        for made, taken, size in (("[0] * {0}", "self.kept.pop()", "len(self.kept)"), ("'x' * {0}", "self.kept = self.kept[1:]", "len(self.kept)"),
                                  ("dict.fromkeys(range({0}))", "self.kept.popitem()", "len(self.kept)")):
            call = self.dice.randrange(400, 10_000)
            counter = ("", f"self.kept = {made.format(call)}", f"self.kept and ({taken})" if "= " not in taken else taken, size)
            with self.subTest(made=made, call=call):
                self.assertEqual(self.error_of(candidate(counter, "{} < 1")).get("class"), "state_carried")

    def test_histories_and_caches_of_fixed_sizes_are_accepted(self):
        for kept in ("self.kept.append(self.n)\n        while len(self.kept) > 300: self.kept.pop(0)",
                     "self.kept.append(self.n)\n        while len(self.kept) > 20: del self.kept[0]",
                     "self.table[self.n] = 0\n        while len(self.table) > 300: del self.table[next(iter(self.table))]",
                     "self.w = self.table.setdefault(self.n % 5, torch.empty(1))\n        if len(self.table) > 3: self.table.popitem(last=False)"):
            source = candidate(("", "self.n, self.kept, self.table = 0, [], collections.OrderedDict()", f"self.n += 1\n        {kept}", "self.n"), "{} < -5")
            with self.subTest(kept=kept):
                begin = time.process_time()
                self.assertEqual(self.error_of(source), {})
                self.assertLess(time.process_time() - begin, 4)

    def test_what_is_set_forward_stays_together(self):
        count = "self.n += 1; self.kept.append(self.n); self.text += 'x'"
        for where, differs in (("list", "len(self.kept) != self.n"), ("text", "len(self.text) != self.n")):
            source = candidate(("", "self.n, self.kept, self.text = 0, [], ''", count, differs), "{}")
            with self.subTest(where=where):
                self.assertEqual(self.error_of(source), {})

    def test_python_that_fails_in_a_state_that_never_comes_is_accepted(self):
        counter = ("", "self.order, self.texts, self.seen = [], {}, 0",
                   "self.seen += 1; self.order.append(str(self.seen)); self.texts[str(self.seen)] = 0; self.texts[self.order[-1]]",
                   "len(self.texts)")
        self.assertEqual(self.error_of(candidate(counter, "sum(self.texts[one] for one in self.order) > {}")), {})

    def test_numbers_that_no_float_holds_are_no_failure(self):
        for is_late in (f"{{}} > {10 ** 400}", "{} < -1e308"):
            self.assertEqual(self.error_of(candidate(COUNTERS["a float"], is_late)), {})
        source = candidate(COUNTERS["a float"], "{} < -1e308").replace("+= 0.1", "+= 5e-324").replace("= -0.1", "= 0.0")
        self.assertEqual(self.error_of(source), {})

    def test_the_message_names_what_changes(self):
        for where, name in (("a global", "`calls`"), ("an attribute", "`self.calls`"), ("a set", "`self.seen`"),
                            ("an attribute of the class", "`Calls.total`"), ("an attribute of a submodule", "`self.inner.calls`")):
            message = self.error_of(candidate(COUNTERS[where], "{} > 9"))["message"]
            self.assertTrue(message.endswith(f"; {name} changes from call to call"), message)

    def test_a_candidate_may_count_where_its_task_counts(self):
        task = capture_task("import torch\n\nclass Model(torch.nn.Module):\n    calls = 0\n    def forward(self, x):\n"
                            "        self.calls += 1\n        return x * 2 * self.calls\n\ndef get_inputs():\n    return [torch.randn(4, 8)]\n")
        self.assertTrue(task["plan"]["first_call_only"])
        counts = CANDIDATE.format(names="", attribute="self.calls = 0", count="self.calls += 1", is_late="False")
        for source, ends in ((counts.replace("* 2", "* 2 * calls").replace("y, n", "y, calls, n").replace("x, y, x", "x, y, self.calls, x"), None),
                             (counts.replace("if False", "if self.calls > 2"), "state_carried")):
            error = capture(candidate_request(task["plan"], source, "candidate.py")).get("error", {})
            self.assertEqual(error.get("class"), ends, error)

    def test_only_a_module_that_keeps_something_is_called_more_than_three_times(self):
        for is_counted, count in ((False, "pass"), (True, "self.calls += 1")):
            source = CANDIDATE.format(names="", attribute="self.calls = 0", count=count, is_late="False")
            with mock.patch.object(LaterCalls, "next_call", autospec=True, side_effect=LaterCalls.next_call) as calls:
                self.assertEqual(self.error_of(source), {})
            self.assertEqual(calls.call_count > 100 if is_counted else calls.call_count == 3, True, calls.call_count)


if __name__ == "__main__":
    unittest.main()
