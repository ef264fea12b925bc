"""RealGymTest is a test class with a judge of this machine. The judge starts once for all tests."""

import atexit
import functools
import os
import pathlib
import unittest

import tritonsmith

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASK = (ROOT / "tests/tasks/softmax.py").read_text()
KERNEL = (ROOT / "tests/honest/files/softmax__online.py").read_text()


@functools.lru_cache(maxsize=None)
def _judge():
    # The peers have an environment of their own. Guests run in the program's environment.
    judge = tritonsmith.Judge(program=os.environ["TRITONSMITH_BINARY"], directory=None)
    atexit.register(judge.close)
    return judge


class RealGymTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ.pop("TRITONSMITH_GYM_URL", None)
        judge = _judge()
        cls.where = {"url": judge.url, "token": judge._token}
