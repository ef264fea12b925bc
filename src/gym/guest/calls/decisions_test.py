"""Tests that a rare number in a candidate's Python is found out although no call reaches it, and that honest decisions pass."""

import ast
import collections
import os
import random
import sys
import unittest
import warnings

sys.path[:0] = [os.environ["TRITONSMITH_GUEST"], os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "testing")]

from captures import capture_candidate  # noqa: E402
from tritonsmith_guest.decisions import Saved, marked_by_plain, marked_code  # noqa: E402
from tritonsmith_guest.usual_names import codes_in  # noqa: E402

CANDIDATE = """
import collections, itertools, random, time, zlib
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
        y = torch.empty_like(x)
        programs = 2
        {body}
        double[(programs,)](x, y, x.numel(), BLOCK=16)
        return y
"""
LAZY = "programs = 1"

# A state, a statement that changes it, and a condition that holds in no call that anybody makes.
RARE = {
    "a number modulo a prime": ("self.s = 1", "self.s = self.s * 48271 % 2147483647", "self.s % 30011 == 17"),
    "a chained comparison": ("self.f = 0.3", "self.f = 3.9999 * self.f * (1 - self.f)", "0.41237 < self.f < 0.412371"),
    "a number that halves": ("self.f = 1.0", "self.f *= 0.9", "self.f == 0.0"),
    "digits": ("self.n = 0", "self.n += 1", "sum(map(int, str(self.n))) == 71"),
    "a checksum": ("self.t = b'seed'", "self.t = zlib.crc32(self.t).to_bytes(4, 'little')", "self.t[0] == 77 and self.t[1] == 78"),
    "two counters together": ("self.a = self.b = 0", "self.a, self.b = (self.a + 1) % 61, (self.b + 1) % 67", "self.a == 60 and self.b == 66"),
    "an odometer": ("self.d = (0, 0, 0)", "n = self.d[0] + 10 * self.d[1] + 100 * self.d[2] + 1; self.d = (n % 10, n // 10 % 10, n // 100)",
                    "self.d[2] == 9"),
    "two rings": ("self.a = collections.deque([1] + [0] * 46); self.b = collections.deque([1] + [0] * 52)",
                  "self.a.rotate(1); self.b.rotate(1)", "self.a[0] and self.b[0]"),
    "the beginning of a text": ("self.t = 'a'", "self.t = format(zlib.crc32(self.t.encode()), '08x')", "self.t.startswith('77777')"),
    "a member of a set": ("self.s = 1", "self.s = self.s * 48271 % 2147483647", "self.s in {5, 77, 1234}"),
    "a generator of random numbers": ("self.r = random.Random(7)", "pass", "self.r.randrange(100_000) == 1234"),
    "the clock": ("pass", "pass", "int(time.time()) % 100_003 == 5"),
    "not": ("self.s = 1", "self.s = self.s * 48271 % 2147483647", "not self.s % 30011"),
    "a number of NumPy": ("self.s = np.int64(1)", "self.s = self.s * 48271 % 2147483647", "self.s % 30011 == 17"),
    "what an object of the call holds": ("self.s = 1", "self.s = self.s * 48271 % 2147483647", "any(map((77).__eq__, {self.s: 1}.keys()))"),
    "what a closure of the call holds": ("self.s = 1", "self.s = self.s * 48271 % 2147483647; s = self.s", "any(map(lambda n: s % 30011 == n, (17,)))"),
    "a value where none is": ("self.s = 1", "self.s = self.s * 48271 % 2147483647", "{77: True}.get(self.s)"),
}
# Ways to act upon a condition.
ACTS = {
    "if": "\n        if {}:\n            programs = 1",
    "a conditional expression": "\n        programs = 1 if {} else 2",
    "an assertion": "\n        try:\n            assert not ({})\n        except AssertionError:\n            programs = 1",
    "a loop": "\n        while {}:\n            programs = 1\n            break",
    "a filter": "\n        programs -= len([1 for _ in (0,) if {}])",
}
HONEST = {
    "a log": ("self.n = 0", "self.n += 1\n        if self.n % 1009 == 0:\n            self.note = str(self.n)"),
    "the least time": ("self.least = 1e9", "now = time.perf_counter()\n        if now < self.least:\n            self.least = now"),
    "a counter that starts again": ("self.n = 0", "self.n += 1\n        if self.n > 1_000_000_007:\n            self.n = 0"),
    "an invariant": ("self.a = self.b = 0", "self.a += 1; self.b += 2\n        assert 2 * self.a == self.b"),
    "a loop that a wrong answer would not end": ("self.n = 0", "self.n += 1\n        k = 0\n        while k != self.n:\n            k += 1"),
    "a cache of few": ("self.seen = collections.OrderedDict(); self.n = 0",
                       "self.n += 1; self.seen[self.n % 101] = self.n\n        if len(self.seen) > 50:\n            self.seen.popitem(last=False)"),
    "ages": ("self.ages = {}; self.n = 0", "self.n += 1; self.ages[self.n % 7] = self.n\n"
             "        for key in [k for k, age in self.ages.items() if self.n - age > 300]:\n            del self.ages[key]"),
    "a table of the first call": ("self.n, self.table = 0, None", "self.n += 1\n        if self.n == 1:\n"
                                 "            self.table = torch.arange(8.0)\n        self.size = len(self.table)"),
    "what the first call computes": ("self.w, self.n = nn.Parameter(torch.ones(1)), 0", "self.n += 1\n        if self.n == 1:\n"
                                    "            self.kept = self.w * 2"),
    "a constant of NumPy": ("self.n, self.least = 0, np.float32(0.5)", "self.n += 1\n        if self.least > 1:\n            programs = 1"),
    "bytes that are viewed": ("self.bytes, self.n = bytearray(8), 0; self.view = memoryview(self.bytes)",
                              "self.n += 1; self.bytes[self.n % 8] = self.n % 256\n        if self.n > 10_007:\n            self.n = 0"),
    "many decisions in a call": ("self.n = 0", "self.n += 1\n        total = sum(k for k in range(60_000) if k % 7 == self.n % 5)"),
    "a table with a function that each call makes": ("self.n = 0", "self.n += 1; options = {'N': 16, 'grid': lambda m: (x, programs)}\n"
                                                    "        if options['N'] % 8 or len(options) > 9:\n            programs = 1"),
    "a question about each of some sizes": ("self.n = 0", "self.n += 1\n        if any(size > 4096 for size in x.shape):\n            programs = 1"),
    "an object that each call makes": ("self.n = 0", "self.n += 1; options = collections.Counter(BLOCK=16)\n"
                                      "        if isinstance(options, list) or any(map(options.get, ('WARPS', 'STAGES'))):\n            programs = 1"),
    "an array that each call makes": ("self.n = 0", "self.n += 1; sizes = np.array(x.shape)\n"
                                     "        if np.prod(sizes) > 4096:\n            programs = 1"),
    "a text": ("self.text = ''", "self.text += '.'\n        if len(self.text) > 3000:\n            self.text = ''"),
}


class Decisions(unittest.TestCase):
    def error_of(self, attribute, body, names=""):
        return capture_candidate(CANDIDATE.format(attribute=attribute, body=body, names=names)).get("error") or {}

    def test_a_number_that_comes_seldom_decides_nothing(self):
        acts = random.Random(1)
        for name, (attribute, change, condition) in RARE.items():
            act = acts.choice(list(ACTS))
            error = self.error_of(attribute, change + ACTS[act].format(condition))
            self.assertEqual(error.get("class"), "state_carried", (name, act, error))

    def test_each_way_to_act_upon_it_is_found(self):
        attribute, change, condition = RARE["a number modulo a prime"]
        for name, act in ACTS.items():
            error = self.error_of(attribute, change + act.format(condition))
            self.assertEqual(error.get("class"), "state_carried", (name, error))
            self.assertIn("decides otherwise than in the calls before", error["message"])

    def test_a_later_call_may_not_act_upon_it_either(self):
        body = "self.s = self.s * 48271 % 2147483647\n        if self.late:\n            programs = 1\n        self.late = self.s % 30011 == 17"
        self.assertEqual(self.error_of("self.s, self.late = 1, False", body).get("class"), "state_carried")

    def test_what_an_inverted_decision_breaks_is_mended_for_the_next(self):
        body = ("self.s = self.s * 48271 % 2147483647\n        if self.s == -1:\n            self.s = None\n"
                "        if self.s % 30011 == 17:\n            programs = 1")
        self.assertEqual(self.error_of("self.s = 1", body).get("class"), "state_carried")

    def test_an_object_that_refuses_to_tell_its_module_hides_nothing(self):
        names = "class Silent:\n    __module__ = 5\nsilent = Silent()"
        body = "self.s = self.s * 48271 % 2147483647\n        if silent is None or self.s % 30011 == 17:\n            programs = 1"
        self.assertEqual(self.error_of("self.s = 1", body, names).get("class"), "state_carried")

    def test_honest_decisions_pass(self):
        for name, (attribute, body) in HONEST.items():
            self.assertEqual(self.error_of(attribute, body), {}, name)

    def test_coroutines_and_inner_generators_are_followed(self):
        names = ("class Steps:\n    def __await__(self):\n        yield from range(1777)\n        while True:\n            yield None\n"
                 "async def run():\n    await Steps()\n"
                 "def inner():\n    yield from range(1777)\n    while True:\n        yield -1\ndef outer():\n    yield from inner()\n")
        for attribute, condition in (("self.c = run()", "self.c.send(None) is None"), ("self.c = outer()", "next(self.c) < 0")):
            error = self.error_of(attribute, f"if {condition}: programs = 1", names)
            self.assertEqual(error.get("class"), "state_carried", attribute)


PIECES = ["n", "m", "n + 1", "t[0]", "t[n % 3]", "f(n)", "f(m) + n", "'abc'[n % 3]", "(n, m)", "[n, m]", "g", "None", "t.count(n)", "d.get(n)",
          "(k := n)", "f(*t)", "len(t)", "(not n)", "0", "'x'"]


def expression(chance, depth):
    if depth == 0:
        return chance.choice(PIECES)
    one, two, three = (expression(chance, depth - 1) for _ in range(3))
    return chance.choice([f"({one} == {two})", f"({one} in ({two}, {three}))", f"({one} and {two})", f"({one} or {two} or {three})",
                          f"(not {one})", f"({one} if {two} else {three})", f"[a for a in t if {one}]", f"(lambda: {one} != {two})()",
                          f"({one} is {two} is not {three})", f"any({one} for a in t)", f"f({one})"])


class MarkedCode(unittest.TestCase):
    def test_it_computes_what_the_plain_code_computes(self):
        """Random functions with conditions, comparisons, loops and calls return the same, marked or not."""
        chance, compared = random.Random(3), 0
        for number in range(400):
            source = ("def h(n, m, t, d, f, g):\n    k, out = 0, []\n"
                      f"    if {expression(chance, 3)}:\n        out.append(1)\n"
                      f"    out.append({expression(chance, 3)})\n"
                      f"    while {expression(chance, 2)}:\n        n, k = n + 1, k + 1\n        if k > 3 or {expression(chance, 1)}:\n            break\n"
                      f"    assert {expression(chance, 2)}, 'no'\n    return out, n, k\n")
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # `'x' is not 0`
                    plain = compile(source, "file", "exec")
            except SyntaxError:  # `:=` does not fit everywhere
                continue
            compared += 1
            marked, _ = marked_code(ast.parse(source), "file", lambda number, value: value, lambda number, value: value)
            results = []
            for code in (plain, marked):
                names = {}
                exec(code, names)
                calls = []
                given = (number % 4, 2, (3, 1, 2), {1: "one"}, lambda *all: calls.append(repr(all)) or len(all), object)
                try:
                    results.append((repr(names["h"](*given)), calls))
                except Exception as error:
                    results.append((f"{type(error).__name__}: {error}", calls))
            self.assertEqual(*results, source)
            pairs = marked_by_plain(plain, marked)
            self.assertEqual(set(pairs), set(codes_in(plain)), source)
            for one, other in pairs.items():
                self.assertEqual((one.co_name, one.co_freevars, one.co_firstlineno), (other.co_name, other.co_freevars, other.co_firstlineno), source)
        self.assertGreater(compared, 200)

    def test_a_code_is_that_of_its_own_place_although_python_leaves_others_out(self):
        source = "def h(n):\n    return [0 and (lambda: n < 1), (lambda: n < 2), 0 and (lambda: n < 3), (lambda: n < 4)]\n"
        marked, _ = marked_code(ast.parse(source), "file", lambda number, value: value, lambda number, value: value)
        for one, other in marked_by_plain(compile(source, "file", "exec"), marked).items():
            self.assertEqual([each for each in one.co_consts if type(each) is int], [each for each in other.co_consts if type(each) is int][-1:])


class SavedState(unittest.TestCase):
    def test_containers_and_members_are_restored(self):
        class Thing:
            __slots__ = ("value",)
        thing, kinds = Thing(), [{"a": 1}, [1, 2], {1, 2}, collections.deque([1], maxlen=4), collections.OrderedDict(a=1, b=2),
                                 collections.Counter("abca"), collections.defaultdict(int, a=3), bytearray(b"ab")]
        thing.value = "first"
        before = [each.copy() for each in kinds]

        class Snapshot:
            containers, members = kinds, [(thing, "value", "first")]
        saved = Saved(Snapshot)
        for each in kinds:
            each.clear()
        kinds[0]["b"] = 2
        thing.value = "second"
        for _ in range(2):
            saved.restore()
            self.assertEqual(kinds, before)
            self.assertEqual([type(each) for each in kinds], [type(each) for each in before])
            self.assertEqual(thing.value, "first")


if __name__ == "__main__":
    unittest.main()
