"""Tests that a candidate cannot edit its own plan: whatever it replaces, the plan that leaves a guest is the unchanged one, or the file
is refused. Each candidate runs in a process of its own, as guests do."""

import json
import os
import random
import sys
import unittest

sys.path[:0] = [os.environ["TRITONSMITH_GUEST"], os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "testing")]

from tritonsmith_guest import frames, integrity, private  # noqa: E402
from tritonsmith_guest.capture import candidate_request, capture  # noqa: E402
from tritonsmith_guest.warm import warm  # noqa: E402

import candidate_modules  # noqa: E402

warm()
TASK_PLAN = capture({"role": "task", "source": candidate_modules.TASK, "path": "task.py", "target": "sm_90"})["plan"]
ANSWER = private.answerer(capture)
# The launch says 0.5, and what a candidate puts in place of a function makes 1.0 of it.
EDIT = '''
import functools, json, operator, sys
edited = []

def edit(value, depth=0):
    for key in (value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()):
        if isinstance(value[key], (dict, list)) and depth < 20:
            edit(value[key], depth + 1)
        elif isinstance(value[key], float) and value[key] == 0.5:
            value[key] = 1.0

def replace(owner, name):
    real = getattr(owner, name)
    def edits(*args, **kwargs):
        for each in args:
            edit(each)
        return real(*args, **kwargs)
    setattr(owner, name, edits)
'''


def candidate(before="", forward="", after=""):
    launch = "y = torch.empty_like(x)\nn = x.numel()\n" + forward + "\nhandle = kernel[(16,)](x, y, n, 0.5, BLOCK=128)\n" + after + "\nreturn y"
    return candidate_modules.candidate(launch, f"{EDIT}\n{before}\n{candidate_modules.KERNEL}")


def answer_of(source):
    """Returns what a fresh guest sends: the error or None, and the plan or None."""
    inner, outer = os.pipe()
    child = os.fork()
    if child == 0:
        reply, text = ANSWER(candidate_request(TASK_PLAN, source, "candidate.py"))
        os.write(outer, private.json_of([reply.get("error"), text]).encode())
        os._exit(0)
    os.close(outer)
    with os.fdopen(inner, "rb") as pipe:
        told = json.loads(pipe.read())
    os.waitpid(child, 0)
    return told[0], None if told[1] is None else json.loads(told[1])


def scales(plan):
    return [choice["arguments"][3]["f"] for step in plan["steps"] if "launch" in step for choice in step["launch"]]


class Plans(unittest.TestCase):

    def unchanged_or_refused(self, *parts):
        error, plan = answer_of(candidate(*parts))
        if plan is not None:
            self.assertEqual(scales(plan), [0.5], parts)
        return error

    def refused(self, message, *parts):
        error = self.unchanged_or_refused(*parts)
        self.assertEqual((error or {}).get("class"), "tampering", (parts, error))
        self.assertIn(message, error["message"], parts)

    def test_what_serialises_a_plan_may_be_replaced_in_any_way_and_is_named(self):
        for name, how in (("json.dumps", "for each in (json,):\n    replace(each, 'dumps')"),
                          ("json.dumps", "class Box:\n    inner = json\nreplace(Box.inner, 'dumps')"),
                          ("json.dumps", "operator.attrgetter('__dict__')(json)['dumps'] = print"),
                          ("JSONEncoder.encode", "replace(json.JSONEncoder, 'encode')"),
                          ("JSONEncoder.iterencode", "replace(json.JSONEncoder, 'iterencode')"),
                          ("json.encoder.c_make_encoder", "replace(json.encoder, 'c_make_encoder')"),
                          ("struct.pack", "import struct\nreplace(struct, 'pack')"),
                          ("linecache.getline", "import linecache\nreplace(linecache, 'getline')"),
                          ("__code__", "functools.update_wrapper(json.dumps, edit, assigned=('__code__',), updated=())"),
                          ("Tensor for a while", "torch.Tensor.storage_offset = print\ndel torch.Tensor.storage_offset")):
            with self.subTest(how=how):
                self.refused(name, "", how)
        self.assertIsNone(self.unchanged_or_refused("", "replace(json._default_encoder, 'encode')"))

    def test_any_function_of_a_module_that_the_guest_names_may_be_replaced(self):
        """Draws functions and methods of the modules that the guest's own modules name."""
        named = {value for name, module in list(sys.modules.items()) if name.startswith("tritonsmith_guest.")
                 for value in vars(module).values() if isinstance(value, type(sys))}
        named = {module.__name__: module for module in (*named, json, json.encoder) if sys.modules.get(module.__name__) is module
                 and module.__name__.split(".")[0] in {"torch", "triton", *sys.stdlib_module_names}}
        places = [(name, key) for name, module in named.items() for key, value in vars(module).items()
                  if callable(value) and not key.startswith("__")]
        places += [(f"{name}.{key}", inner) for name, module in named.items() for key, value in vars(module).items()
                   if isinstance(value, type) and value.__flags__ & integrity.CHANGEABLE == integrity.HEAP and "." not in key
                   for inner, member in vars(value).items() if callable(member) and not inner.startswith("__")]
        for path, name in random.Random(11).sample(places, 25):
            with self.subTest(path=path, name=name):
                error = self.unchanged_or_refused(
                    f"import {path if path in named else path.rpartition('.')[0]}",
                    f"if not edited:\n    edited.append(1)\n    for each in ({path},):\n        replace(each, {name!r})")
                self.assertTrue(error or not integrity.is_watched(path))

    def test_no_object_that_a_candidate_has_leads_to_the_steps(self):
        for after in ("edit(handle.launches.recorder.steps)", "edit(handle.metadata._kernel)", "handle.index = 7",
                      "edit([mode.steps for mode in map(torch._C._get_dispatch_stack_at, range(9))])",
                      "edit(torch._C._pop_torch_dispatch_stack(None).steps)",
                      "edit([m.steps for m in torch.utils._python_dispatch._get_current_dispatch_mode_stack()])",
                      "edit(operator.attrgetter('__globals__')(type(kernel).run)['_launches'].recorder.steps)",
                      "edit(object.__getattribute__(type(kernel).run, '__globals__')['_launches'].recorder.steps)",
                      "import inspect\nedit(inspect.getclosurevars(type(kernel).run).globals['_launches'].recorder.steps)",
                      "graph = torch.cuda.CUDAGraph()\nedit(graph.recording.steps)"):
            with self.subTest(after=after):
                self.unchanged_or_refused("", "", after)

    def test_frames_that_a_candidate_gets_show_nothing_of_the_guest(self):
        walk = "while frame is not None:\n        found.update(frame.f_locals)\n        frame = frame.f_back"
        for get in ("import traceback\n    frame = next(traceback.walk_tb(e.__traceback__))[0]",
                    "import inspect\n    frame = inspect.getinnerframes(e.__traceback__)[0].frame"):
            self.refused("f_locals", "", "", f"found = {{}}\ntry:\n    1 / 0\nexcept Exception as e:\n    {get}\n    {walk}")
        self.refused("signal", "", "import signal\nsignal.signal(signal.SIGUSR1, print)")

    def test_no_operator_runs_past_the_recorder(self):
        for after in ("with torch._C._DisableTorchDispatch():\n    y.mul_(2)",
                      "torch.ops.aten.mul_.Scalar.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.Meta), y, 2)"):
            self.refused("", "", "", after)

    def test_an_operator_keeps_the_name_that_torch_gave_it(self):
        forward = "torch.ops.aten.mul_.Tensor._schema = torch.ops.aten.alias.default._schema"
        error, plan = answer_of(candidate("", forward, "y.mul_(y)"))
        if plan is not None:
            self.assertIn("aten::mul_.Tensor", [step.get("aten") for step in plan["steps"]])
        self.refused("aten.mul_", "torch.ops.aten.mul_.Tensor", "torch.ops.aten.mul_.Tensor = torch.ops.aten.relu_.default")

    def test_a_number_is_what_c_reads(self):
        classes = ("class I(int):\n    def __lt__(self, other): return False\n    def __sub__(self, other): return 3\n"
                   "    def __index__(self): return 3\nclass F(float):\n    def __float__(self): return 1.0\n")
        launch = "kernel[(16,)](x, y, I(16), F(0.25), BLOCK=128)"
        _, plan = answer_of(candidate(classes, launch))
        first = next(step["launch"][0] for step in plan["steps"] if "launch" in step)
        self.assertEqual(first["arguments"][2:], [{"i": 16}, {"f": 0.25}])


class Messages(unittest.TestCase):

    def test_a_candidate_cannot_rewrite_why_it_is_refused(self):
        for rewrite in ("e.message = 'fine'\n    e.error_class = 'exception'", "type(e).first = None", "e.args = ('fine',)",
                        "type(e).__init__ = lambda self, *a: None", "type(e).__str__ = lambda self: 'fine'"):
            error, _ = answer_of(candidate("", f"try:\n    eval('1')\nexcept BaseException as e:\n    {rewrite}"))
            self.assertEqual((error["class"], error["message"]), ("tampering", "the file calls eval"), rewrite)

    def test_what_a_file_replaces_runs_in_no_message(self):
        error, _ = answer_of(candidate("", "import linecache\nfor each in (linecache,):\n    each.getline = lambda *a: 'fine'\neval('1')"))
        self.assertEqual((error["class"], error["excerpt"]), ("tampering", "eval('1')"))


class Honest(unittest.TestCase):

    def test_python_that_replaces_nothing_is_accepted(self):
        for before in ("class E(json.JSONEncoder):\n    def default(self, o):\n        return str(o)\n"
                       "assert json.dumps({'a': torch.float32}, cls=E) and json.loads('[1]') == [1]",
                       "import enum, dataclasses, typing\n@dataclasses.dataclass\nclass A:\n    a: int = 1\nassert A() == A()",
                       "import re, struct, hashlib, zlib, warnings\nre.compile('a+')\nhashlib.sha256(b'a').hexdigest()\n"
                       "with warnings.catch_warnings():\n    warnings.simplefilter('ignore')",
                       "import collections\nT = collections.namedtuple('T', 'a b', defaults=(1, 2))\nassert T().b == 2",
                       "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()):\n    print('a')"):
            error, plan = answer_of(candidate(before))
            self.assertIsNone(error, before)
            self.assertEqual(scales(plan), [0.5])

    def test_a_float_subclass_of_numpy_is_a_number(self):
        _, plan = answer_of(candidate("import numpy as np", "y = y + np.float64(0.5)"))
        self.assertEqual(scales(plan), [0.5])


class Serialiser(unittest.TestCase):

    def test_it_writes_what_json_writes(self):
        value = {"a": [1, -2, 0.5, 1e300, True, None, "\u00e9\"\\\n\x00"], "b": {"c": []}, "d": {}, "e": (1, 2)}
        self.assertEqual(private.json_of(value), json.dumps(value, ensure_ascii=False))
        self.assertIs(frames.json_of, private.json_of)

    def test_it_runs_no_method_of_a_value(self):
        def loud(kind):
            def shout(*given):
                raise AssertionError("a method ran")
            return type("Loud", (kind,), {name: shout for name in ("__str__", "__repr__", "__index__", "__float__", "__iter__")})
        self.assertEqual(private.json_of([loud(int)(3), loud(float)(0.5), loud(str)("a")]), '[3, 0.5, "a"]')


if __name__ == "__main__":
    unittest.main(verbosity=1)
