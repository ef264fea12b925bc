"""Begins a capture in a process of the user's command. It waits for torch, which the process may or may not import."""

import importlib
import importlib.machinery
import os
import sys

WATCHED = "torch.nn.modules.module"


class Watcher:
    """Finds torch's module of modules as Python does, and hooks it once it is loaded."""

    def find_spec(self, name, path=None, target=None):
        if name != WATCHED:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_hook(module):
                load(module)
                from .capture import Capture
                from .function_calls import FunctionCalls
                capture = Capture(os.environ["TRITONSMITH_CAPTURE"], os.environ["TRITONSMITH_CAPTURE_FOLDER"])
                capture.hook(module.Module)
                # Names of classes begin with a capital letter, and calls of modules are seen without their names.
                names = [name.rpartition(":")[2] for name in os.environ.get("TRITONSMITH_CAPTURE_NAMES", "").split()]
                functions = [name for name in names if not name[:1].isupper()]
                if functions:
                    FunctionCalls(capture, functions).watch()

            spec.loader.exec_module = load_and_hook
        return spec


def start():
    open(os.path.join(os.environ["TRITONSMITH_CAPTURE"], "python"), "a").close()  # says that a Python can be recorded
    own = sys.modules.pop("sitecustomize")
    sys.path.remove(os.path.dirname(own.__file__))
    try:
        importlib.import_module("sitecustomize")  # the user's, if there is one
    except ModuleNotFoundError:
        sys.modules["sitecustomize"] = own
    sys.meta_path.insert(0, Watcher())
