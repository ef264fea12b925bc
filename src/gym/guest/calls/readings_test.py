"""Tests that a count of calls is found out wherever a library keeps it, because the file must read it."""

import dis
import inspect
import os
import random
import sys
import unittest
from unittest import mock

sys.path[:0] = [os.environ["TRITONSMITH_GUEST"], os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "testing")]

from captures import capture_candidate  # noqa: E402
from tritonsmith_guest import further_calls, guards  # noqa: E402
from tritonsmith_guest.usual_names import SHIFTS, are_usual  # noqa: E402

CANDIDATE = """
import abc, array, calendar, csv, decimal, enum, fractions, functools, hashlib, itertools, logging, struct, sys, warnings
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
        {count}
        programs = (2, 1)[{is_late}]
        double[(programs,)](x, y, x.numel(), BLOCK=1024)
        return y
"""
# How to count calls: names of the file, an attribute, a statement of forward, and a number that grows by one with each call.
COUNTERS = {
    "the level of a logger": ("", "pass", "log = logging.getLogger('q'); log.setLevel(log.level + 1)", "log.level"),
    "a limit of csv": ("", "pass", "csv.field_size_limit(csv.field_size_limit() + 1)", "csv.field_size_limit() - 131072"),
    "the precision of decimals": ("", "pass", "c = decimal.getcontext(); c.prec += 1", "c.prec"),
    "options of printing": ("", "pass", "o = torch._tensor_str.PRINT_OPTS; torch.set_printoptions(threshold=o.threshold + 1)", "int(o.threshold)"),
    "filters of warnings": ("", "pass", "warnings.simplefilter('ignore', lineno=len(warnings.filters))", "len(warnings.filters)"),
    "the numbers of handles": ("", "pass", "h = self.register_forward_hook(print); h.remove()", "h.id"),
    "hits of a cache": ("@functools.lru_cache(None)\ndef f(n): return n", "pass", "f(0)", "f.cache_info().hits"),
    "an array": ("A = array.array('q', [0])", "pass", "A[0] += 1", "A[0]"),
    "bytes": ("B = bytearray(8)", "pass", "struct.pack_into('q', B, 0, struct.unpack_from('q', B)[0] + 1)", "struct.unpack_from('q', B)[0]"),
    "a reader of lines": ("R = csv.reader(itertools.repeat('a'))", "pass", "next(R, None)", "R.line_num"),
    "an exception's arguments": ("E = ValueError(0)", "pass", "E.args = (E.args[0] + 1,)", "E.args[0]"),
    "a complex number": ("", "self.z = 0j", "self.z += 1j", "int(self.z.imag)"),
    "a fraction": ("", "self.z = fractions.Fraction(0)", "self.z += 1", "int(self.z)"),
    "a range": ("", "self.z = range(1)", "self.z = range(len(self.z) + 1)", "self.z.stop"),
    "a slice": ("", "self.z = slice(0)", "self.z = slice(self.z.stop + 1)", "self.z.stop"),
    "subclasses": ("class One: pass", "self.kept = []", "type('Two', (One,), {})", "len(One.__subclasses__())"),
    "pools of graphs": ("", "pass", "h = torch.cuda.graph_pool_handle()", "h[1]"),
    "an attribute beside keys that change": ("", "self.n, self.keys = 0, {}", "self.n += 1; self.keys = {object(): 0}", "self.n"),
}


def candidate(counter, is_late):
    names, attribute, count, number = counter
    return CANDIDATE.format(names=names, attribute=attribute, count=count, is_late=is_late.format(number))


class Reading(unittest.TestCase):
    def setUp(self):
        self.dice = random.Random(f"readings {self.id()}")
        # Hundreds of calls and inverted decisions (decisions_test.py) come first, and would find some of these. Readings must find them alone.
        for owner, name, value in ((further_calls, "calls_of", lambda steps: 8), (further_calls, "FAR_CALLS", 0),
                                   (further_calls, "decisions_of", lambda *all: None), (guards.Watch, "put_back", None)):
            replaced = mock.patch.object(owner, name, value)
            replaced.start()
            self.addCleanup(replaced.stop)

    def ends(self, source):
        return capture_candidate(source).get("error", {}).get("class")

    def test_a_number_that_grows_is_read_as_it_will_be(self):
        for where, counter in COUNTERS.items():
            call = self.dice.randrange(600, 30_000)
            with self.subTest(where=where, call=call):
                self.assertEqual(self.ends(candidate(counter, f"min(({{}}) // {call}, 1)")), "state_carried")

    def test_a_number_that_only_a_log_reads_is_accepted(self):
        for where, counter in COUNTERS.items():
            with self.subTest(where=where):
                self.assertIsNone(self.ends(candidate(counter, "len(str({})) * 0")))

    def test_what_takes_turns_is_called_on(self):
        counter = ("", "pass", "calendar.setfirstweekday((calendar.firstweekday() + 1) % 7)", "calendar.firstweekday()")
        self.assertEqual(self.ends(candidate(counter, "{} // 6")), "state_carried")
        self.assertIsNone(self.ends(candidate(counter, "{} // 7")))

    def test_what_grows_by_a_factor_is_read_as_it_will_be(self):
        counter = ("", "pass", "sys.setswitchinterval(sys.getswitchinterval() * 1.01)", "sys.getswitchinterval()")
        self.assertEqual(self.ends(candidate(counter, "min(int({}), 1)")), "state_carried")

    def test_numbers_without_order_are_read_as_the_largest(self):
        for counter in (("", "self.z = 1", "self.z = (self.z * 1103515245 + 12345) % 2**31", "self.z / 2**31"),
                        ("", "self.z = b''", "self.z = hashlib.sha256(self.z).digest(); n = int.from_bytes(self.z[:2], 'big')", "n / 2**16")):
            self.assertEqual(self.ends(candidate(counter, "int(({}) * 1000) // 999")), "state_carried")

    def test_iterators_of_any_kind_are_advanced(self):
        for iterator in ("reversed([0] * 900 + [0])", "itertools.tee([0] * 900)[0]", "map(int, ['0'] * 900)"):
            source = candidate((f"I = {iterator}", "pass", "late = next(I, 1)", "late"), "{}")
            with self.subTest(iterator=iterator):
                self.assertEqual(self.ends(source), "state_carried")

    def test_python_that_fails_at_numbers_that_never_come_is_accepted(self):
        for count, number in (("self.n = (self.n + 1) % 300", "[0] * 300"), ("self.n += 1", "{self.n: 0}")):
            self.assertIsNone(self.ends(candidate(("", "self.n = 0", count, number), "({})[self.n]")))


class Usual(unittest.TestCase):
    def test_ordinary_functions_are_usual_and_others_are_not(self):
        import calendar
        import torch
        names = {"torch": torch, "calendar": calendar, "count": 3}
        for body, usual in (("y = torch.empty_like(x); self.n = self.kept + count; return y.view(x.shape)", True),
                            ("return [each.numel() for each in x]", True), ("return calendar.firstweekday()", False),
                            ("return self.register_forward_hook(x)", False), ("return x.hits", False), ("import csv", False),
                            ("return lambda: torch.initial_seed()", False), ("return id(x)", False),
                            ("return self.__hash__(), self.kept", False), ("return self.numel(), x.hits", False), ("return torch.cos(torch.nn.functional.gelu(x).amax(-1))", True),
                            (f"{'self.n = x.numel(); ' * 300}\n    return calendar.firstweekday()", False),
                            ("\n    ".join(f"self.a{k} = x.shape[{k}]" for k in range(300)), True)):
            scope = {}
            exec(f"def forward(self, x):\n    {body}", scope)
            self.assertEqual(are_usual([scope["forward"]], names), usual, body)

    def test_the_names_of_operations_are_those_that_dis_tells(self):
        for function in (unittest.TestCase.run, unittest.TestCase.__init__, unittest.TextTestRunner.run, dis.dis, inspect.getsource):
            for each in dis.get_instructions(function):
                if each.opcode in SHIFTS:
                    self.assertEqual(function.__code__.co_names[each.arg >> SHIFTS[each.opcode]], each.argval)
        self.assertLessEqual({dis.opmap["LOAD_ATTR"], dis.opmap["LOAD_GLOBAL"]}, SHIFTS.keys())


if __name__ == "__main__":
    unittest.main()
