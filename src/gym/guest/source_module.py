"""Turns source text into a Python module whose text tracebacks and inspect.getsource can read. A kernel language may need
the latter, as Triton does."""

import linecache
import sys
import types


def register_source(source, path):
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)


def load_module(source, path, name, own_builtins=None):
    """Loads the module. It raises whatever the module's top level raises. The text need not exist as a file.

    `own_builtins` replaces Python's builtins in the module."""
    register_source(source, path)
    module = types.ModuleType(name)
    module.__file__ = path
    if own_builtins is not None:
        module.__builtins__ = own_builtins
    sys.modules[name] = module
    exec(compile(source, path, "exec"), module.__dict__)
    return module
