"""Sees the calls of the functions that the user names, whoever imported them under whatever name.

Python tells a profile function of each call. This costs a script some time, so it is only done for names of functions.
"""

import inspect
import sys
import threading


class FunctionCalls:
    """`capture` counts the calls. `names` are those of functions, without their modules."""

    def __init__(self, capture, names):
        self.capture, self.names = capture, frozenset(names)
        self.functions = {}  # code -> the function of a module that runs it, or None

    def watch(self):
        threading.setprofile(self.see)
        sys.setprofile(self.see)

    def see(self, frame, event, _):
        if event != "call" or frame.f_code.co_name not in self.names or getattr(self.capture.local, "is_busy", False):
            return
        code = frame.f_code
        if code not in self.functions:
            self.functions[code] = function_of(frame)
        function = self.functions[code]
        if function is None:
            return
        self.capture.local.is_busy = True
        try:
            self.capture.note(code.co_name, lambda: self.count(function, frame))
        finally:
            self.capture.local.is_busy = False

    def count(self, function, frame):
        positional, keywords, given = arguments_of(function, frame)
        self.capture.add((function, "", "", "", given), positional, keywords, function)


def function_of(frame):
    """Returns the module's function that runs this frame, below decorators, or None for methods and inner functions."""
    outer = frame.f_globals.get(frame.f_code.co_name)
    for _ in range(20):
        if getattr(outer, "__code__", None) is frame.f_code:
            return outer
        outer = getattr(outer, "__wrapped__", None)
    return None


def arguments_of(function, frame):
    """Returns the arguments of a call that are not defaults, by position as far as none is left out before them, and the
    names of the parameters that they give."""
    positional, keywords, given, values = [], {}, [], frame.f_locals
    may_be_positional = True
    for parameter in inspect.signature(function, follow_wrapped=False).parameters.values():
        value = values[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += value
            given += [f"*{parameter.name}"] * len(value)
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            keywords.update(value)
            given += value
            continue
        if value is parameter.default:
            may_be_positional = False
            continue
        elif may_be_positional and parameter.kind is not parameter.KEYWORD_ONLY:
            positional.append(value)
        else:
            keywords[parameter.name] = value
        given.append(parameter.name)
    return positional, keywords, tuple(sorted(given))
