"""Records how the modules of a running script are constructed and called, and the functions that the user names. The script sees no difference but time.

Each process writes its records to a file of its own, after a new kind of call and at its end. `tritonsmith capture` joins
the files (modules/capture.cc).
"""

import atexit
import functools
import inspect
import json
import os
import re
import sys
import sysconfig
import threading
import time

from .argument_text import call_text
from .problem import Problem
from .tensor_text import is_readable

KEY = "_tritonsmith_construction"
MAX_KINDS = 16  # of calls of one construction
MAX_RECORDS = 2000
INSTALLED = re.compile(r"/(site|dist)-packages/")
STDLIB = tuple({os.path.realpath(sysconfig.get_path(name)) + "/" for name in ("stdlib", "platstdlib")})
SHORT = {"bfloat16": "bf16", "float16": "fp16", "float64": "fp64"}


class Construction:
    """The arguments with which a module was constructed. A copy of the module shares them."""

    __slots__ = ("positional", "keywords", "is_known", "text", "problem")

    def __init__(self, kind, positional, keywords):
        self.positional, self.keywords = positional, keywords
        self.is_known = False  # until the constructor runs: a module that is loaded from a file is not constructed
        self.text, self.problem = "", ""
        try:
            self.text = call_text(positional, keywords, kind.__module__, parameter_names(kind.__init__))
        except Problem as problem:
            self.problem = str(problem)
        except Exception as error:  # foreign objects may do anything
            self.problem = f"an argument cannot be read ({type(error).__name__})"

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return dict, ()  # what the script saves must not need this package


def parameter_names(function, skips_first=True):
    """Returns a function from the number of a positional argument to its name. The first parameter of a method is no
    argument."""
    try:
        names = list(inspect.signature(function).parameters)[1 if skips_first else 0:]
    except (TypeError, ValueError):
        names = []
    return lambda i: names[i] if i < len(names) else f"argument {i + 1}"


class Capture:
    def __init__(self, results, folder):
        self.results, self.folder = results, os.path.realpath(folder)
        self.lock, self.local = threading.RLock(), threading.local()
        self.start_process()
        os.register_at_fork(after_in_child=self.start_process)

    def start_process(self):
        self.lock = threading.RLock()
        self.records, self.kinds_of, self.instances = {}, {}, {}
        self.dirty, self.written = False, 0.0
        self.path = os.path.join(self.results, f"{os.getpid()}-{time.time_ns()}.json")

    def hook(self, base):
        original_init, original_call = base.__init__, base.__call__

        def new(cls, *positional, **keywords):
            module = object.__new__(cls)
            if cls.__new__ is new:  # another __new__ may pass on other arguments
                object.__setattr__(module, KEY, Construction(cls, positional, keywords))
            return module

        @functools.wraps(original_init)
        def init(module, *positional, **keywords):
            original_init(module, *positional, **keywords)
            construction = module.__dict__.get(KEY)
            if isinstance(construction, Construction):
                construction.is_known = True

        @functools.wraps(original_call)
        def call(module, *positional, **keywords):
            if not getattr(self.local, "is_busy", False):
                self.local.is_busy = True
                try:
                    self.remember(module, positional, keywords)
                finally:
                    self.local.is_busy = False
            return original_call(module, *positional, **keywords)

        base.__new__, base.__init__, base.__call__ = staticmethod(new), init, call
        atexit.register(self.write)

    def remember(self, module, positional, keywords):
        self.note(type(module).__name__, lambda: self.count(module, positional, keywords))

    def note(self, name, count):
        try:
            with self.lock:
                count()
                if self.dirty and time.monotonic() - self.written > 1:
                    self.write()
        except Exception as error:  # a mistake here must not stop the script
            print(f"tritonsmith: a call of {name} was not recorded: {error!r}", file=sys.stderr)

    def count(self, module, positional, keywords):
        construction = module.__dict__.get(KEY)
        is_known = isinstance(construction, Construction) and construction.is_known
        init = (construction.text, construction.problem) if is_known else ("", "its constructor was not seen")
        key = (type(module), *init, weight_type(module), names_given(type(module), positional, keywords))
        if self.add(key, positional, keywords, type(module).forward):
            self.instances[key].add(id(module))

    def add(self, key, positional, keywords, function):
        """Counts a call of a module or a function. Returns false where there are too many records."""
        if key not in self.records:
            if len(self.records) >= MAX_RECORDS:
                return False
            self.records[key] = self.new_record(*key)
            self.kinds_of[key], self.instances[key], self.dirty = {}, set(), True
        record, kinds = self.records[key], self.kinds_of[key]
        record["calls"] += 1
        kind = kind_of([positional, keywords])
        if kind in kinds:
            kinds[kind]["calls"] += 1
        elif len(kinds) >= MAX_KINDS:
            record["more"] += 1
        else:
            kinds[kind] = self.new_call(key[0], function, positional, keywords)
            record["inputs"].append(kinds[kind])
            self.dirty = True
        return True

    def new_record(self, kind, init, problem, dtype, given):
        target, why_no_task, is_own = self.target_of(kind)
        return {"name": kind.__name__, "target": target, "why_no_task": why_no_task, "is_own": is_own, "init": init,
                "init_problem": problem, "dtype": SHORT.get(dtype, dtype), "given": list(given), "calls": 0, "instances": 0,
                "more": 0, "inputs": []}

    def new_call(self, kind, function, positional, keywords):
        import torch
        dtype = autocast_type()
        made = {"text": "", "problem": "", "calls": 1, "note": f"called under autocast to {dtype}" if dtype else ""}
        names = parameter_names(function, skips_first=isinstance(kind, type))
        try:
            with torch.no_grad():
                made["text"] = call_text(positional, keywords, kind.__module__, names)
                if dtype:
                    cast = [in_type(each, dtype) for each in (positional, keywords)]
                    made["autocast"] = SHORT.get(str(dtype).rpartition(".")[2], str(dtype))
                    made["autocast_text"] = call_text(*cast, kind.__module__, names)
        except Problem as problem:
            made["problem"] = str(problem)
        except Exception as error:
            made["problem"] = f"an argument cannot be read ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
        return made

    def target_of(self, kind):
        """Returns the class as `judge --task` names it or "", why there is no name, and whether the class is the user's."""
        module = sys.modules.get(kind.__module__)
        path = os.path.realpath(getattr(module, "__file__", None) or "")
        is_installed = bool(INSTALLED.search(path)) or path.startswith(STDLIB)
        if "<locals>" in kind.__qualname__ or "." in kind.__qualname__:
            return "", "it is defined within a function or another class: move it to the top of its file", not is_installed
        if not path.endswith(".py") or getattr(module, kind.__name__, None) is not kind:
            return "", "it is in no file under this name", not is_installed
        if is_installed:
            return f"{kind.__module__}:{kind.__name__}", "", False
        relative = os.path.relpath(path, self.folder)
        return f"{path if relative.startswith('..') else relative}:{kind.__name__}", "", True

    def write(self):
        """Writes all records, so that they are kept even if the process is killed."""
        if not self.records:
            return
        self.dirty, self.written = False, time.monotonic()
        for key, record in self.records.items():
            record["instances"] = len(self.instances[key])
        try:
            with open(self.path + ".new", "w", encoding="utf-8") as file:
                json.dump(list(self.records.values()), file)
            os.replace(self.path + ".new", self.path)
        except OSError as error:  # the capture may have ended before this process
            print(f"tritonsmith: {error}", file=sys.stderr)


def weight_type(module):
    """Returns the name of the weights' dtype if all have the same and it is not the default, else ""."""
    import torch
    types = {each.dtype for each in module.parameters() if each.dtype.is_floating_point}
    return str(types.pop()).rpartition(".")[2] if len(types) == 1 and types != {torch.float32} else ""


@functools.lru_cache(maxsize=None)
def signature_of_forward(kind):
    try:
        return inspect.signature(kind.forward)
    except (TypeError, ValueError):
        return None


def names_given(kind, positional, keywords):
    """Returns which parameters a call gives: the calls of a task must give the same ones."""
    signature = signature_of_forward(kind)
    try:
        return tuple(sorted(signature.bind(None, *positional, **keywords).arguments)) if signature else ()
    except TypeError:  # the call itself will fail
        return ()


def kind_of(value):
    """Returns what tells calls apart: shapes, dtypes, strides and devices of tensors, and plain values but floats."""
    import torch
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided:
            return ("tensor", str(value.layout), tuple(value.shape))
        return ("tensor", value.dtype, tuple(value.shape), value.stride() if is_readable(value) else (), value.device.type)
    if isinstance(value, (list, tuple)):
        return (type(value), *map(kind_of, value))
    if isinstance(value, dict):
        return (type(value), *((str(name), kind_of(each)) for name, each in value.items()))
    if value is None or isinstance(value, (bool, int, str)):
        return (type(value), value)
    return type(value)


def in_type(value, dtype):
    """Returns an argument as it is where the weights have autocast's type."""
    import torch
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.dtype == torch.float32 and is_readable(value) else value
    if type(value) in (list, tuple):
        return type(value)(in_type(each, dtype) for each in value)
    if type(value) is dict:
        return {name: in_type(each, dtype) for name, each in value.items()}
    return value


def autocast_type():
    """Returns the type of products under the autocast that is on, or None."""
    import torch
    for device in ("cuda", "cpu"):
        is_on = torch.is_autocast_enabled() if device == "cuda" else torch.is_autocast_cpu_enabled()
        if is_on:
            return torch.get_autocast_gpu_dtype() if device == "cuda" else torch.get_autocast_cpu_dtype()
    return None
