"""Tests that what a process or the GPU's memory answers decides nothing without being found out, and that honest code may ask."""

import os
import sys
import unittest

sys.path[:0] = [os.environ["TRITONSMITH_GUEST"], os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "testing")]

from candidate_modules import candidate  # noqa: E402
from captures import capture_candidate, launches  # noqa: E402

LAUNCH = "kernel[(16,)](self.linear(x), y, x.numel(), scale, BLOCK=128)\nreturn y"
GIGABYTE = 1 << 30

# Each is true in some processes and false in others.
QUESTIONS = {
    "a new input": "x._version == 0",
    "an input that was written to": "x._version == 1",
    "an input that was written to often": "x._version > 3",
    "an input whose writes are odd": "x._version % 11 == 5",
    "much that is free": "torch.cuda.mem_get_info()[0] > 100 * 2**30",
    "little that is free": "torch.cuda.mem_get_info()[0] < 20 * 2**30",
    "one number of free bytes": "torch.cuda.mem_get_info()[0] % 1009 == 7",
    "no other tensors": "torch.cuda.memory_allocated() < 2**20",
    "other tensors": "torch.cuda.memory_allocated() > 100_000",
    "many other tensors": "torch.cuda.memory_allocated() > 2**30",
    "a reserve": "torch.cuda.memory_reserved() > 2**30",
    "a number of segments": "torch.cuda.memory_reserved() // 2**21 % 97 == 3",
    "a peak": "torch.cuda.max_memory_allocated() > 2**33",
    "a statistic": "torch.cuda.memory_stats()['allocated_bytes.all.peak'] > 2**33",
    "a count among statistics": "torch.cuda.memory_stats()['allocation.all.allocated'] > 50",
    "a weight that was written to": "self.linear.weight._version > 3",
    "a process": "os.getpid() % 97 == 3",
    "a parent": "os.getppid() % 97 == 3",
    "a logged process": "logging.LogRecord('a', 1, 'b', 1, 'c', (), None).process % 97 == 3",
    "threads between operators": "torch.get_num_interop_threads() != 2",
    "a seed of the GPU": "torch.cuda.initial_seed() == 0",
    "a deep stack": "depth(0) < 930",
}
# Statements of honest code. None of them decides what a kernel does.
HONEST = {
    "prints the process": "print('process', os.getpid())",
    "logs the memory": "logging.getLogger('kernel').debug('%d bytes', torch.cuda.memory_allocated())",
    "empties the cache if little is free": "if torch.cuda.mem_get_info()[0] < 2**30:\n    torch.cuda.empty_cache()",
    "measures what a call allocates": "before = torch.cuda.memory_allocated()\nz = torch.empty_like(x)\n"
                                      "self.bytes = torch.cuda.memory_allocated() - before",
    "keeps the greatest peak": "self.peak = max(getattr(self, 'peak', 0), torch.cuda.max_memory_allocated())",
    "asserts that memory is sound": "assert torch.cuda.memory_allocated() <= torch.cuda.memory_reserved() <= torch.cuda.mem_get_info()[1]\n"
                                    "assert torch.cuda.memory_allocated() <= torch.cuda.max_memory_allocated() <= torch.cuda.max_memory_reserved()",
    "asserts that an input stays": "version = x._version\nassert x._version == version",
    "makes a workspace for each process": "if getattr(self, 'process', None) != os.getpid():\n"
                                          "    self.process, self.space = os.getpid(), torch.empty(64, device='cuda')",
    "keeps a weight until it changes": "if getattr(self, 'version', None) != self.linear.weight._version:\n"
                                       "    self.version, self.turned = self.linear.weight._version, self.linear.weight.t().contiguous()",
    "makes its own copy by a kernel until a weight changes": "if getattr(self, 'version', None) != self.linear.weight._version:\n"
        "    self.version, self.kept = self.linear.weight._version, torch.empty_like(self.linear.weight)\n"
        "    kernel[(32,)](self.linear.weight, self.kept, 4096, 1.0, BLOCK=128)",
    "refuses weights that change": "if getattr(self, 'version', self.linear.weight._version) != self.linear.weight._version:\n"
                                   "    raise RuntimeError('pack again')\nself.version = self.linear.weight._version",
    "looks into lists of lists": "def depth(value):\n    return 1 + max(map(depth, value), default=0) if type(value) is list else 0\n"
                                 "assert depth([[], [[]]]) == 3",
}
HEAD = """
import logging, os

def depth(n):
    try:
        return depth(n + 1)
    except RecursionError:
        return n
"""


def captured(setup, value="self.scale"):
    return capture_candidate(HEAD + candidate(f"y = torch.empty_like(x)\nscale = {value}\n{setup}\n{LAUNCH}"))


def refused(answer, expected):
    """Whether the capture ended, or the plan holds what a process does that is no judge's."""
    if "error" in answer:
        return answer["error"]["class"] == "state_carried"
    return [launch[0]["arguments"][3] for launch in launches(answer["plan"])] != [expected]


class QuestionsTest(unittest.TestCase):

    def test_no_answer_decides_what_a_kernel_gets(self):
        for name, question in QUESTIONS.items():
            for condition in (question, f"not ({question})"):
                with self.subTest(name, condition=condition):
                    answer = captured("", f"self.scale / 2 if {condition} else self.scale")
                    self.assertTrue(refused(answer, {"f": 2.0}), answer.get("error"))

    def test_no_answer_is_an_index(self):
        for name in ("a new input", "many other tensors", "no other tensors", "much that is free", "a peak", "threads between operators"):
            with self.subTest(name):
                answer = captured("", f"(self.scale, self.scale / 2)[{QUESTIONS[name]}]")
                self.assertTrue(refused(answer, {"f": 2.0}), answer.get("error"))

    def test_honest_code_may_ask(self):
        for name, statements in HONEST.items():
            with self.subTest(name):
                answer = captured(statements)
                self.assertNotIn("error", answer)
                self.assertEqual([launch[0]["arguments"][3] for launch in launches(answer["plan"])][-1], {"f": 2.0})


if __name__ == "__main__":
    unittest.main()
