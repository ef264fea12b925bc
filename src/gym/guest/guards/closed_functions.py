"""Closes functions that lead into the process or past the recorder to everybody but torch itself while a candidate runs.

A candidate need not call such a function itself: any function of a library that calls what it is given will do. So what counts is
who calls. That is torch's own code or the guest's, or it is refused.
"""

import ctypes
import functools
import signal
import sys

import torch
from torch.utils import _python_dispatch

from .inner_objects import is_trusted

_real_frame = sys._getframe

# Each gives the modes that record, or takes one away.
OF_MODES = ("_get_dispatch_stack_at", "_pop_torch_dispatch_stack", "_push_on_torch_dispatch_stack", "_get_dispatch_mode",
            "_set_dispatch_mode", "_unset_dispatch_mode", "_dispatch_tls_set_dispatch_key_excluded",
            "_dispatch_tls_set_dispatch_key_included", "_DisableTorchDispatch", "_DisablePythonDispatcher", "_ExcludeDispatchKeyGuard",
            "_IncludeDispatchKeyGuard", "_ForceDispatchKeyGuard", "_AutoDispatchBelowAutograd")
OF_PYTHON_MODES = ("_get_current_dispatch_mode", "_get_current_dispatch_mode_stack", "_detect_infra_mode", "_pop_mode", "_push_mode",
                   "_pop_mode_temporarily", "_disable_current_modes", "_disable_infra_mode", "_unset_infra_mode")


def install(watch, stop):
    """Closes the functions in the whole process. `watch` is the Watch of guards.py, and `stop` ends the capture."""
    def may_call():
        before, watch.inside = watch.inside, True
        try:
            return is_trusted(_real_frame(2).f_code.co_filename)
        finally:
            watch.inside = before

    def closed(function, name):
        def guarded(*args, **kwargs):
            if watch.path is not None and not may_call():
                stop(f"calls {name}, which looks into the process that runs it")
            return function(*args, **kwargs)
        return functools.update_wrapper(guarded, function, assigned=("__name__", "__doc__"), updated=()) if callable(function) else function

    originals = {}
    for module, names in ((torch._C, OF_MODES), (_python_dispatch, OF_PYTHON_MODES),
                          (signal, ("signal", "set_wakeup_fd")), (signal._signal, ("signal", "set_wakeup_fd")),
                          (ctypes, ("memmove", "memset", "cast", "CFUNCTYPE", "PYFUNCTYPE"))):
        for name in names:
            if hasattr(module, name):
                original = getattr(module, name)
                originals.setdefault(id(original), (original, closed(original, name)))
    for one, name in ((torch._C._DispatchOperatorHandle, "redispatch_boxed"), (torch._ops.OpOverload, "redispatch")):
        setattr(one, name, closed(getattr(one, name), name))
    replace_everywhere(originals)


def replace_everywhere(originals):
    """Replaces functions under all names that modules have for them."""
    for name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", None)
        if name.split(".")[0] in ("torch", "signal", "_signal", "ctypes") and isinstance(names, dict):
            for key, value in list(names.items()):
                if id(value) in originals:
                    names[key] = originals[id(value)][1]
