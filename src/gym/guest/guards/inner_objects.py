"""Closes the ways from Python's own objects into the guest, whatever name or function a candidate reaches them by.

A function shows the namespace of its module and its cells, a frame shows the names of whoever runs, and a class lists what derives
from it. CPython reads these by descriptors of its built-in types and by one method. This module puts others in their place, which
keep back what is the guest's while a candidate runs. So neither `operator.attrgetter`, nor `inspect`, nor a signal's handler that
receives a frame leads into the guest.
"""

import ctypes
import gc
import inspect
import os
import sys
import types

import torch

FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Whose frames hold the modes that record: they are as closed as the guest's.
CLOSED_FILES = (os.path.join("torch", "utils", "_python_dispatch.py"), os.path.join("torch", "_ops.py"))
TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
CALLS_WHAT_IT_IS_GIVEN = (os.path.join("utils", "_pytree.py"), os.path.join("utils", "_cxx_pytree.py"))
_real_frame = sys._getframe


def is_guests_code(code, known={}):
    """Whether a code object is the guest's, or of a library's file that holds the recorder in its variables."""
    name = code.co_filename
    if name not in known:
        known[name] = name.startswith(FOLDER) or name.endswith(CLOSED_FILES)
    return known[name]


def is_trusted(name, known={}):
    """Whether a file of this name is torch's or the guest's, and calls no function that a candidate gave it."""
    if name not in known:
        known[name] = name.startswith(FOLDER) or name.startswith(TORCH) and not name.endswith(CALLS_WHAT_IT_IS_GIVEN)
    return known[name]


def own_dictionary(kind):
    """Returns the dictionary of a built-in type, which vars() shows read-only."""
    return gc.get_referents(vars(kind))[0]


def put(kind, name, value):
    own_dictionary(kind)[name] = value
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def install(watch, stop):
    """Puts the descriptors in place, in the whole process. `watch` is the Watch of guards.py, and `stop` ends the capture."""
    read_code, read_frames_code = types.FunctionType.__code__.__get__, types.FrameType.f_code.__get__

    def may_look():
        """Whether no candidate runs, or the guest or torch looks. Who calls Python's inspect looks by it."""
        if watch.path is None or watch.inside:
            return True
        before, watch.inside = watch.inside, True
        try:
            frame = _real_frame(2)
            while frame is not None and read_frames_code(frame).co_filename == inspect.__file__:
                frame = frame.f_back
            return frame is not None and is_trusted(read_frames_code(frame).co_filename)
        finally:
            watch.inside = before

    def code_of(function):
        before, watch.inside = watch.inside, True  # to read the code is an event of the audit
        try:
            return read_code(function)
        finally:
            watch.inside = before

    def guarded(kind, name, code):
        read = own_dictionary(kind)[name].__get__

        def look(value):
            if is_guests_code(code(value)) and not may_look():
                stop(f"reads {name} of the judge's own code")
            return read(value)
        put(kind, name, property(look))
    for name in ("__globals__", "__closure__", "__builtins__"):
        guarded(types.FunctionType, name, code_of)
    for name in ("f_locals", "f_globals", "f_builtins"):
        guarded(types.FrameType, name, read_frames_code)

    list_subclasses = type.__subclasses__

    def subclasses(cls):
        found = list_subclasses(cls)
        if watch.path is None:
            return found
        return [each for each in found if not str(type.__dict__["__module__"].__get__(each)).startswith("tritonsmith_guest")]
    put(type, "__subclasses__", subclasses)
