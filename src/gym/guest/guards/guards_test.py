"""Tests that a candidate's Python cannot reach the capture, and that honest questions are answered as on a GPU.

Each candidate runs in a process of its own, as guests do, because some replace what others need."""

import json
import os
import random
import sys
import unittest

sys.path[:0] = [os.environ["TRITONSMITH_GUEST"], os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "testing")]

from tritonsmith_guest.capture import capture, candidate_request  # noqa: E402
from tritonsmith_guest.warm import warm  # noqa: E402

import candidate_modules  # noqa: E402

warm(thorough=False)
TASK_PLAN = capture({"role": "task", "source": candidate_modules.TASK, "path": "task.py", "target": "sm_90"})["plan"]
LAUNCH = candidate_modules.LAUNCH.format("kernel[(16,)](x, y, n, self.scale, BLOCK=128)")


def answer_of(source):
    """Returns what a fresh guest answers."""
    inner, outer = os.pipe()
    child = os.fork()
    if child == 0:
        answer = capture(candidate_request(TASK_PLAN, source, "candidate.py"))
        os.write(outer, json.dumps({"error": answer.get("error"), "plan": "plan" in answer}).encode())
        os._exit(0)
    os.close(outer)
    with os.fdopen(inner, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text or '{"error": {"class": "died", "message": ""}, "plan": false}')


def candidate(forward="", before=""):
    return candidate_modules.candidate(forward + "\n" + LAUNCH if forward else LAUNCH, f"\n{before}\n" + candidate_modules.KERNEL)


class Refused(unittest.TestCase):

    def refused(self, message, forward="", before=""):
        error = answer_of(candidate(forward, before))["error"]
        self.assertIsNotNone(error, forward or before)
        self.assertEqual(error["class"], "tampering", error)
        self.assertIn(message, error["message"])
        return error

    def test_builtins_that_run_text_do_nothing_however_they_are_called(self):
        for forward in ("max(['1'], key=eval)", "[exec][0]('1')", "list(map(compile, ['1'], ['a'], ['eval']))", "open('a')",
                        "getattr(__builtins__, 'get', __builtins__['get'] if isinstance(__builtins__, dict) else 0)('eval')('1')"):
            error = answer_of(candidate(forward))["error"]
            self.assertIsNotNone(error, forward)
        self.assertIn("key=eval", self.refused("calls eval", "max(['1'], key=eval)")["excerpt"])

    def test_libraries_open_no_file_for_a_candidate(self):
        self.refused("causes open", "import argparse\nargparse.ArgumentParser(fromfile_prefix_chars='@').parse_args(['@/proc/self/maps'])")
        self.refused("causes open", "import numpy\nnumpy.genfromtxt('/proc/self/maps', dtype=str)")
        self.refused("causes open", "import codecs\ncodecs.open('/proc/self/maps')")

    def test_namespaces_and_formats_lead_nowhere(self):
        self.refused("vars on module", "vars(torch)['ut' + 'ils']")
        self.refused("vars on ", "vars(torch.Tensor)")
        self.refused("__globals__", "string.Formatter().get_field('0.' + '__glo' + 'bals__', (kernel,), {})", "import string")
        self.refused("_python_dispatch", "string.Formatter().get_field('0.utils._python_' + 'dispatch', (torch,), {})", "import string")
        self.refused("vars on ", "getattr(torch, '__di' + 'ct__')")
        self.refused("_python_dispatch", "getattr(torch.utils, '_python_' + 'dispatch')")

    def test_names_that_are_computed_lead_nowhere(self):
        self.refused("__globals__", "getattr(kernel, '__glo' + 'bals__')")
        self.refused("the module sys", "getattr(torch, 's' + 'ys')")
        self.refused("the module sys", "functools.reduce(getattr, 'sys modules'.split(), torch)", "import functools")
        self.refused("__code__", "[getattr][0](candidate, '__co' + 'de__')", "def candidate(): pass")

    def test_frames_are_out_of_reach_whoever_shows_them(self):
        for forward, before in (("sys._getframe(0)", "import sys"), ("traceback.extract_stack()", "import traceback"),
                                ("inspect.stack()", "import inspect"), ("logging.getLogger().findCaller()", "import logging"),
                                ("where()", "def where():\n    try:\n        1 / 0\n    except Exception as e:\n"
                                            "        return getattr(e, '__trace' + 'back__')"),
                                ("frame = (i for i in ()).gi_frame", "")):
            error = answer_of(candidate(forward, before))["error"]
            self.assertEqual((error or {}).get("class"), "tampering", forward)

    def test_objects_processes_and_files_are_out_of_reach(self):
        for forward, before in (("gc.get_objects()", "import gc"), ("subprocess.run(['true'])", "import subprocess"),
                                ("os.listdir('.')", "import os"), ("os.system('true')", "import os"),
                                ("ctypes.CDLL(None)", "import ctypes"), ("socket.socket()", "import socket"),
                                ("sys.settrace(print)", "import sys"), ("types.FunctionType(f.__code__, {})", "import types\ndef f(): pass")):
            error = answer_of(candidate(forward, before))["error"]
            self.assertEqual((error or {}).get("class"), "tampering", forward)

    def test_computed_imports_find_the_modules_of_kernels_only(self):
        for name in ("sys", "subprocess", "ctypes", "tritonsmith_guest", "os.path"):
            error = answer_of(candidate(f"importlib.import_module({name[::-1]!r}[::-1])", "import importlib"))["error"]
            self.assertIn("No module named", error["message"], name)
        self.assertIsNone(answer_of(candidate("importlib.import_module('tri' + 'ton')", "import importlib"))["error"])

    def test_threads_do_not_start(self):
        error = answer_of(candidate("threading.Thread(target=print).start()", "import threading"))["error"]
        self.assertEqual((error["class"], "starts a thread" in error["message"]), ("tampering", True))

    def test_the_guests_modules_have_no_name(self):
        error = answer_of(candidate("assert not [m for m in sys.modules if 'tritonsmith' in m]", "import sys"))["error"]
        self.assertIsNone(error)
        self.refused("the judge's", before="import tritonsmith_guest")

    def test_what_a_candidate_replaces_is_named(self):
        for before, name in (("torch.relu = print", "torch.relu"), ("triton.testing.do_bench = print", "do_bench"),
                             ("torch.Tensor.relu = print", "Tensor.relu"), ("F.softmax = print", "functional.softmax"),
                             ("nn.Linear.forward = print", "Linear.forward"), ("triton.cdiv = lambda a, b: 1", "triton.cdiv"),
                             ("import builtins\nbuiltins.abs = print", "builtins.abs"),
                             ("type(kernel_of()).run = print", "JITFunction.run")):
            kernels = candidate_modules.KERNEL
            source = candidate_modules.candidate("return x * 2", kernels + "\n\ndef kernel_of():\n    return kernel\n" + before)
            error = answer_of(source)["error"]
            self.assertEqual((error or {}).get("class"), "tampering", before)
            self.assertIn(name, error["message"])

    def test_what_a_candidate_replaces_is_the_reason_although_forward_raises_later(self):
        error = answer_of(candidate("raise ValueError('late')", "import builtins\nbuiltins.max = lambda *given: 0"))["error"]
        self.assertEqual((error["class"], "builtins.max" in error["message"]), ("tampering", True))
        error = answer_of(candidate("raise ValueError('late')"))["error"]
        self.assertEqual(error["class"], "exception")

    def test_a_refusal_cannot_be_caught(self):
        forward = "try:\n    max(['1'], key=eval)\nexcept BaseException:\n    pass"
        self.refused("calls eval", forward)

    def test_any_split_of_a_name_is_seen(self):
        """The guard looks at the name that arrives, so it does not matter how the text makes it."""
        chance = random.Random(7)
        for name in ("__globals__", "__code__", "__closure__", "f_back", "__subclasses__", "__builtins__"):
            cut = chance.randrange(1, len(name))
            made = chance.choice([f"{name[:cut]!r} + {name[cut:]!r}", f"{name[::-1]!r}[::-1]",
                                  f"''.join(map(chr, {list(map(ord, name))}))"])
            self.refused(name, f"getattr(kernel, {made}, None)")


class Answered(unittest.TestCase):

    def accepted(self, forward="", before=""):
        answer = answer_of(candidate(forward, before))
        self.assertTrue(answer["plan"], (forward, before, answer["error"]))

    def test_a_warning_names_the_line_that_gives_it(self):
        forward = ("import warnings\nwith warnings.catch_warnings(record=True) as given:\n    warnings.simplefilter('always')\n"
                   "    for level in range(1, 8):\n        warnings.warn('x', stacklevel=level)\n"
                   "assert {each.filename for each in given} == {'candidate.py'} and len(given) == 7")
        self.assertTrue(answer_of(candidate(forward))["plan"], answer_of(candidate(forward)))

    def test_a_storage_answers_as_on_a_gpu(self):
        self.accepted("s = x.untyped_storage()\nassert s.data_ptr() == x.data_ptr() > 0 and s.device == x.device and s.is_cuda\n"
                      "assert x.is_shared() and s.is_shared() and x.__dict__ == {} and type(s) is torch.UntypedStorage")
        self.accepted("w = torch.empty(8)\nassert w.untyped_storage().device.type == 'cpu' and not w.is_shared()")

    def test_the_process_is_an_ordinary_one(self):
        self.accepted("import sys\nassert not sys.flags.isolated and sys.flags[0] == 0 and 'python' in sys.executable\n"
                      "assert len(sys.argv) == 1", "import argparse\nargparse.ArgumentParser().parse_args()")
        self.accepted("now = datetime.datetime.now()\nassert isinstance(now, datetime.datetime) and now - now == datetime.timedelta()\n"
                      "assert now.year >= 2026 and datetime.date.today() >= datetime.date(2026, 1, 1)", "import datetime")
        self.accepted("begin = time.perf_counter()\nassert 0 <= time.perf_counter() - begin < 60 and time.time_ns() > 10**18", "import time")

    def test_answers_that_differ_between_processes_differ_between_calls(self):
        # A candidate compares with what it was told when it was imported. So its first call passes at each hour of each day.
        for question in ("time.time() - start > 60", "(time.localtime().tm_hour < 12) != early",
                         "(datetime.date.today().day, 0)[0] % 2 != odd", "torch.get_num_threads() < 2",
                         "torch.cuda.device_count() > 1", "os.getloadavg()[0] < 0.1", "sys.getallocatedblocks() > 10**6", "sys.getrefcount(x) > 5", "__name__ == '__main__'", "'kernel' in __file__",
                         "chance.random() < 1e-6", "chance.randrange(1 << 20) == (1 << 20) - 1"):
            error = answer_of(candidate(f"assert not ({question})",
                                        "import datetime, os, random, sys, time\nstart, chance = time.time(), random.Random(5)\n"
                                        "early, odd = time.localtime().tm_hour < 12, datetime.date.today().day % 2"))["error"]
            self.assertEqual(error and error["class"], "state_carried", question)

    def test_a_tensor_has_the_type_that_it_has_on_a_gpu(self):
        self.accepted("assert type(x) is torch.Tensor and isinstance(x, torch.Tensor)")
        self.accepted("assert type(self.linear.weight) is nn.Parameter and type(x).__name__ == 'Tensor'")
        self.accepted("assert 'Fake' not in str(type(x)) and not hasattr(x, 'fake_mode')")
        self.accepted("assert getattr(x, 'fake_device', 3) == 3")

    def test_type_is_otherwise_the_type_that_python_has(self):
        self.accepted("assert type(3) is int and type(int) is type and isinstance(nn.Linear, type)")
        self.accepted(before="class M(type):\n    def __call__(cls, *a):\n        return 3\nclass A(metaclass=M):\n    pass\n"
                             "assert A() == 3 and type(A) is M and issubclass(M, type)")
        self.accepted(before="D = type('D', (), {'x': 1})\nassert D().x == 1 and D.__name__ == 'D'\nx: type[int] = int\n"
                             "y = type[int]\nz = {type: 1}[type]")

    def test_honest_python_runs(self):
        self.accepted(before="from dataclasses import dataclass\nfrom collections import namedtuple\nimport enum, typing\n"
                             "P = namedtuple('P', 'a b')\nclass E(enum.Enum):\n    A = 1\n@dataclass(frozen=True)\nclass Q:\n"
                             "    a: int = 3\nassert Q().a == 3\nclass N(typing.NamedTuple):\n    a: int\n")
        self.accepted(before="import functools, inspect\n@functools.wraps(len)\ndef f(a):\n    return a\n"
                             "assert list(inspect.signature(f).parameters)")
        self.accepted(before="import warnings, logging\nwarnings.warn('a')\nlogging.getLogger('a').warning('b')")
        self.accepted(before="import numpy as np\nimport copy, re, json\nassert copy.deepcopy({'a': np.zeros(3)})['a'].sum() == 0")
        self.accepted("g = copy.deepcopy(self.linear)", "import copy")

    def test_own_objects_have_namespaces(self):
        self.accepted("assert string.Formatter().get_field('0.__cla' + 'ss__', (x,), {})[0] is torch.Tensor", "import string")
        self.accepted("assert vars(x) == {} and 'fake_mode' not in dir(x) and 'shape' in dir(x)")
        self.accepted(before="class A:\n    def __init__(self):\n        self.a = 3\nassert vars(A()) == {'a': 3} and 'a' in dir(A())")
        self.accepted(before="import string\nassert string.Formatter().format('{0.real:d}', 3) == '3'")

    def test_what_is_not_installed_is_missing(self):
        self.accepted(before="try:\n    import apex\nexcept ImportError:\n    apex = None\nassert apex is None")
        self.accepted(before="import importlib.util\nassert importlib.util.find_spec('apex') is None")

    def test_the_tasks_inputs_can_be_imported_and_not_called(self):
        self.accepted(before="from reference import get_inputs, get_init_inputs")
        error = answer_of(candidate("get_inputs()", "from reference import get_inputs"))["error"]
        self.assertEqual(error["class"], "tampering")

    def test_memory_holds_what_was_captured(self):
        self.accepted("assert torch.cuda.memory_allocated() >= x.untyped_storage().nbytes()\n"
                      "assert torch.cuda.memory_reserved() % 2**21 == 0 and torch.cuda.mem_get_info()[0] < torch.cuda.mem_get_info()[1]\n"
                      "assert torch.cuda.memory_stats()['allocated_bytes.all.current'] == torch.cuda.memory_allocated()")


class OwnOperators(unittest.TestCase):

    def test_every_way_to_register_an_operator_leads_to_its_python(self):
        body = "    y = torch.empty_like(x)\n    kernel[(16,)](x, y, x.numel(), 1.5, BLOCK=128)\n    return y\n"
        for number, registration in enumerate((
                "@torch.library.custom_op('own{0}::f', mutates_args=())\ndef f(x: torch.Tensor) -> torch.Tensor:\n" + body,
                "library = torch.library.Library('own{0}', 'DEF')\nlibrary.define('f(Tensor x) -> Tensor')\n"
                "@torch.library.impl(library, 'f', 'CUDA')\ndef f(x):\n" + body,
                "torch.library.define('own{0}::f', '(Tensor x) -> Tensor')\n@torch.library.impl('own{0}::f', 'cuda')\ndef f(x):\n" + body,
                "library = torch.library.Library('own{0}', 'FRAGMENT')\nlibrary.define('f(Tensor x) -> Tensor')\ndef f(x):\n" + body
                + "library.impl('f', f, 'CompositeExplicitAutograd')\n")):
            source = candidate_modules.candidate(f"return torch.ops.own{number}.f(x)", candidate_modules.KERNEL + registration.format(number))
            answer = answer_of(source)
            self.assertTrue(answer["plan"], (registration, answer["error"]))


class OtherMode(unittest.TestCase):

    def test_pytorch_may_not_compute_what_a_kernel_computes_otherwise(self):
        copied = candidate_modules.KERNEL + candidate_modules.KERNEL.replace("def kernel", "def copied")
        forward = ("y = torch.empty_like(x)\nif not self.training:\n    copied[(16,)](torch.tanh(x), y, x.numel(), 1.0, BLOCK=128)\n"
                   "    return y\nkernel[(16,)](x, y, x.numel(), self.scale, BLOCK=128)\nreturn y")
        error = answer_of(candidate_modules.candidate(forward, copied))["error"]
        self.assertEqual(error["class"], "mode_dependent")
        self.assertIn("aten::tanh", error["message"])

    def test_a_norm_without_statistics_in_evaluation_is_no_other_program(self):
        statistics = candidate_modules.KERNEL + candidate_modules.KERNEL.replace("def kernel", "def statistics")
        forward = ("y = torch.empty_like(x)\nscale = torch.empty(64, device=x.device)\nif self.training:\n"
                   "    statistics[(1,)](x, scale, 64, 1.0, BLOCK=64)\nelse:\n    scale = torch.rsqrt(self.linear.bias + 1e-5)\n"
                   "kernel[(16,)](x, y, x.numel(), self.scale, BLOCK=128)\nreturn y + scale")
        self.assertTrue(answer_of(candidate_modules.candidate(forward, statistics))["plan"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
