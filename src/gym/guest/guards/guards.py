"""Guards keep a candidate's Python away from the capture that runs it.

Inspection reads a candidate's text first, and the text can hide what it does. So the guest guards by what happens:
- An audit hook, which nothing can remove, sees frames, code objects, tracebacks, `exec`, files, processes and the garbage
  collector being reached, whatever name led there.
- The candidate's builtins are its own. `getattr` does not lead into Python's inner objects, `eval` and `open` do nothing,
  `type` of a fake tensor is the type that a tensor on a GPU has, and `__import__` gives kernels' modules only.
- The guest's modules leave `sys.modules` while a candidate runs.

A guard ends the capture with the class `tampering`. In one process no guard is perfect. The plan that is judged is data, so
whoever passes them all gains nothing but another plan.
"""

import _string
import argparse
import builtins
import codecs
import importlib
import inspect
import logging
import string
import sys
import threading
import traceback
import warnings
from types import ModuleType

import torch
from torch._subclasses.fake_tensor import FakeTensor

from . import closed_functions, inner_objects, integrity
from .errors import CaptureStop
from .languages import PACKAGES
from .shown_types import FAKE, Type, shown_type

# Attributes that lead from an object into the process.
INNER = {"__globals__", "__code__", "__closure__", "__builtins__", "__subclasses__", "__loader__", "__spec__", "__mro__",
         "__bases__", "__getattribute__", "f_locals", "f_globals", "f_back", "f_builtins", "f_code", "tb_frame", "tb_next",
         "gi_frame", "gi_code", "cr_frame", "cr_code", "ag_frame", "cell_contents", "__traceback__"}
# Modules that a module holds and a candidate has no use for.
CLOSED = {"sys", "builtins", "gc", "ctypes", "_ctypes", "importlib", "inspect", "subprocess", "multiprocessing", "socket",
          "threading", "_thread", "traceback", "linecache", "pickle", "marshal", "tritonsmith_guest", "os", "posix", "signal"}
# The modules by which torch's operators are recorded.
CLOSED_OF_TORCH = {"torch.utils._python_dispatch"}
# Modules by which Python's own tests look into it.
CLOSED_OF_PYTHON = {"_testcapi", "_testinternalcapi", "_testmultiphase", "_xxsubinterpreters", "_interpreters", "_xxinterpchannels"}
# Attributes of sys that lead to what other code holds.
OF_SYS = {"modules", "_getframe", "_current_frames", "_current_exceptions", "settrace", "setprofile", "gettrace", "getprofile",
          "meta_path", "path_hooks", "path_importer_cache", "addaudithook", "_xoptions", "last_traceback", "_git", "monitoring"}
# Events of Python's audit that no candidate may cause, whoever calls for it.
FORBIDDEN = ("gc.get_", "sys._current_frames", "sys.settrace", "sys.setprofile", "subprocess.", "socket.", "ctypes.",
             "sys._current_exceptions", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.kill", "pty.", "code.__new__", "sys.addaudithook")
# The parts of a function that say what it does.
OF_FUNCTIONS = {"__code__", "__defaults__", "__kwdefaults__"}
# Events that a candidate's own code may not cause. Libraries that it calls may.
NOT_BY_CANDIDATES = ("sys._getframe", "object.__getattr__", "object.__setattr__", "object.__delattr__", "exec", "compile", "open",
                     "os.", "function.__new__", "pickle.find_class", "import_module")
# Python's own modules that show a caller the stack. Whoever calls them asks for it.
STACK_TOOLS = {module.__file__ for module in (traceback, inspect, logging)}
# Modules that open a file by the name that their caller gives them.
FILE_TOOLS = {argparse.__file__, logging.__file__, codecs.open.__code__.co_filename} | {
    module.__file__ for name, module in sys.modules.items()
    if name.split(".")[0] == "numpy" and getattr(module, "__file__", None)}
_real_frame, _real_getattr, _real_import = sys._getframe, getattr, builtins.__import__
_real_import_module, _real_start = importlib.import_module, threading.Thread.start


def stop(what):
    raise CaptureStop("tampering", f"the file {what}")


class Watch:
    """What the audit hook knows. There is one hook in a process, and it is idle until a candidate runs."""
    path = None     # the candidate's file while it runs
    inside = False  # the hook itself looks at frames
    put_back = None  # puts back what the candidate replaced, and returns its name or None
    functions = frozenset()  # the ids of the functions that no candidate may change

    @classmethod
    def hear(cls, event, arguments):
        path = cls.path
        if path is None or cls.inside:
            return
        if event.startswith(FORBIDDEN):
            cls.path = None
            stop(f"causes {event}, which is not for kernels")
        if event == "object.__setattr__" and id(arguments[0]) in cls.functions and arguments[1] in OF_FUNCTIONS:
            cls.path = None
            stop(f"replaces {arguments[1]} of a function that is not its own")
        if event.startswith(NOT_BY_CANDIDATES) and event != "os.putenv":
            cls.inside = True
            try:
                frame = _real_frame(1)
                tools = {"sys._getframe": STACK_TOOLS, "open": FILE_TOOLS}.get(event, ())
                while frame is not None and frame.f_code.co_filename in tools:
                    frame = frame.f_back
                is_candidate = frame is not None and frame.f_code.co_filename == path
            finally:
                cls.inside = False
            if is_candidate:
                cls.path = None
                name = f" ({arguments[1]})" if event.startswith("object.") else ""
                stop(f"causes {event}{name}, which looks into the process that runs it")


_real_warn = warnings.warn


def warn_here(message, category=None, stacklevel=1, source=None, **options):
    """Replaces warnings.warn. A warning is about the line that gives it, since its callers are the guest's."""
    _real_warn(message, category, 2, source)


def guarded_getattr(value, name, *default):
    if name in INNER or value is sys and name in OF_SYS:
        stop(f"reads {name} by a computed name")
    if isinstance(value, FakeTensor) and name in FAKE:
        if default:
            return default[0]
        raise AttributeError(f"'Tensor' object has no attribute '{name}'")
    if name == "__class__":
        return shown_type(value)
    if name == "__dict__":
        return guarded_vars(value)
    found = _real_getattr(value, name, *default)
    if isinstance(value, ModuleType) and isinstance(found, ModuleType) and (
            found.__name__.split(".")[0] in CLOSED or found.__name__ in CLOSED_OF_TORCH):
        stop(f"reaches the module {found.__name__} by a computed name")
    return found


def guarded_hasattr(value, name):
    return not (isinstance(value, FakeTensor) and name in FAKE) and hasattr(value, name)


def is_its_own(value):
    """Says whether a value, its class or its function comes from the candidate's file."""
    owner = value if isinstance(value, type) or callable(value) and hasattr(value, "__module__") else type(value)
    return _real_getattr(owner, "__module__", None) == "candidate_module"


def guarded_vars(*values):
    if values and isinstance(values[0], FakeTensor):
        return {}
    if not values or not is_its_own(values[0]):
        stop(f"calls vars on {type(values[0]).__name__ if values else 'its own names'}, which looks into other people's objects")
    return vars(values[0])


def guarded_dir(*values):
    if not values:
        stop("calls dir on its own names")
    return [name for name in dir(values[0]) if not (isinstance(values[0], FakeTensor) and name in FAKE)]


_real_get_field = string.Formatter.get_field


def guarded_get_field(self, field_name, args, kwargs):
    """Does what string.Formatter does, but reads attributes as a candidate may read them."""
    if Watch.path is None:
        return _real_get_field(self, field_name, args, kwargs)
    first, rest = _string.formatter_field_name_split(field_name)
    found = self.get_value(first, args, kwargs)
    for is_attribute, key in rest:
        found = guarded_getattr(found, key) if is_attribute else found[key]
    return found, first


_real_dict = torch.Tensor.__dict__["__dict__"]


def shown_dict(tensor):
    """Returns a fake tensor's attributes. A candidate sees those that a tensor on a GPU has."""
    attributes = _real_dict.__get__(tensor)
    return {name: value for name, value in attributes.items() if name not in FAKE} if is_called_by_candidate() else attributes


class ShownTensor(torch.Tensor):
    """Becomes the base of fake tensors, so that their attributes are shown as those of a tensor on a GPU."""
    __dict__ = property(shown_dict, _real_dict.__set__)


def refusing(name):
    def refused(*args, **kwargs):
        stop(f"calls {name}")
    return refused


def guarded_import(name, globals=None, locals=None, fromlist=(), level=0):
    """Imports a module for a candidate. A module that it may not have is missing, as in an environment without it."""
    if name.split(".")[0] in ("tritonsmith_guest", "tritonsmith"):
        stop(f"imports {name}, which is the judge's")
    if name in CLOSED_OF_TORCH:
        stop(f"imports {name}, which records operators")
    if name in CLOSED_OF_PYTHON:
        stop(f"imports {name}, which looks into Python")
    if name in TASK_MODULES and name not in sys.modules:
        return TaskModule(name)
    return _real_import(name, globals, locals, fromlist, level)


def is_called_by_candidate():
    """Whether the candidate's own code called the function that asks this."""
    Watch.inside, before = True, Watch.inside
    try:
        return Watch.path is not None and _real_frame(2).f_code.co_filename == Watch.path
    finally:
        Watch.inside = before


def guarded_import_module(name, package=None):
    """Replaces importlib.import_module. A candidate that computes a name gets the modules that kernels are written with. All
    others are missing, as in an environment without them."""
    if is_called_by_candidate() and name.split(".")[0] not in COMMON:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)
    return _real_import_module(name, package)


def guarded_start(thread):
    """Replaces threading.Thread.start."""
    if is_called_by_candidate():
        stop("starts a thread, which runs code beside the judged call")
    return _real_start(thread)


# Modules that a candidate may import by a computed name.
COMMON = {"torch", *PACKAGES, "numpy", "math", "functools", "itertools", "typing", "dataclasses", "contextlib", "collections"}
# Names under which other judges keep the task. A file may import the task's inputs without using them.
TASK_MODULES = ("reference", "task")


class TaskModule(ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return refusing(f"{self.__name__}.{name}, which is the task's")


def builtins_of_candidates():
    own = dict(vars(builtins))
    own.update(getattr=guarded_getattr, hasattr=guarded_hasattr, type=Type, __import__=guarded_import, vars=guarded_vars,
               dir=guarded_dir,
               **{name: refusing(name) for name in ("eval", "exec", "compile", "open", "breakpoint", "input")})
    return own


class hidden:
    """Hides the guest's modules and watches the candidate while the context is open."""

    def __init__(self, path):
        self.path, self.modules = path, {}

    def __enter__(self):
        # An import makes a module an attribute of its package. To look through all of sys.modules would write to the memory
        # of thousands of names, which a guest shares with the zygote until then.
        sys.modules.pop("task_module", None)  # the process is a copy of one that captured samples
        package = sys.modules["tritonsmith_guest"]
        for name in ["tritonsmith_guest", *(f"tritonsmith_guest.{name}" for name in vars(package))]:
            if name in sys.modules:
                self.modules[name] = sys.modules.pop(name)
        self.command = sys.argv, sys.executable
        sys.argv, sys.executable = ["main.py"], "/usr/bin/python3"
        Watch.path = self.path

    def __exit__(self, *error):
        Watch.path = None
        sys.argv, sys.executable = self.command
        sys.modules.update(self.modules)
        # A replaced builtin can also make the guest's own code raise. What the candidate replaced is the reason then.
        replaced = Watch.put_back and Watch.put_back()
        if replaced and not (error[0] and issubclass(error[0], CaptureStop)):
            raise CaptureStop("tampering", f"the file replaces {replaced}, which is not its own", 0)


def install():
    """Installs the audit hook in the whole process, and hides that tensors are fake."""
    sys.addaudithook(Watch.hear)
    string.Formatter.get_field = guarded_get_field
    importlib.import_module, threading.Thread.start = guarded_import_module, guarded_start
    warnings.warn = warn_here
    FakeTensor.__name__ = FakeTensor.__qualname__ = "Tensor"
    FakeTensor.__module__ = "torch"
    FakeTensor.__bases__ = (ShownTensor,)
    inner_objects.install(Watch, stop)
    closed_functions.install(Watch, stop)


def know_originals(capture_samples):
    """Remembers what a candidate must not replace. The process is as it will be when a candidate runs, and capturing samples shows
    what changes by itself."""
    originals = integrity.Originals()
    Watch.functions = originals.functions
    originals.put_back()  # looks at all of it
    capture_samples()
    originals.settle()
    Watch.put_back = staticmethod(originals.put_back)
