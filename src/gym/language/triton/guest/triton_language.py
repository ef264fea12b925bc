"""TritonLanguage: Triton as the guests' shared modules see it (language.py)."""

import ast
import linecache
import os
import re
import sys

from .language import Language


class TritonLanguage(Language):
    __slots__ = ()
    TITLE = "Triton"
    PACKAGE = "triton"
    CODE = "ttir"
    MODULES = ("triton", "triton.compiler.code_generator", "triton.experimental.gluon", "triton.language.extra.libdevice",
               "triton.tools.tensor_descriptor", "torch._inductor.utils", "torch._inductor.runtime.triton_heuristics")
    WATCHED_MODULES = ("triton", "triton.language", "triton.language.core", "triton.language.standard", "triton.language.math",
                       "triton.testing", "triton.runtime.jit", "triton.runtime.autotuner")

    def install(self):
        from . import inductor, launches, libdevice, triton_driver
        triton_driver.install()
        libdevice.install()
        launches.install()
        inductor.install()

    def warm_up(self, capture_sample):
        from . import launches
        from .capture import candidate_request
        from .compiler import compile_kernel
        from .samples import SAMPLES
        for task, candidate in SAMPLES:
            plan = capture_sample({"role": "task", "source": task, "path": "task.py", "target": "sm_90"})
            kernels = capture_sample(candidate_request(plan, candidate, "candidate.py"))["kernels"]
            for kernel in {each["name"]: each for each in kernels}.values():  # one configuration of each
                if "error" in (answer := compile_kernel({**kernel, "target": "sm_90"})):
                    raise RuntimeError(f"the compiler does not work here: {answer['error']['message']}")
        launches.spare_contexts.extend(launches.new_context() for _ in range(4))

    def environment(self, folder):
        return {"TRITON_HOME": folder, "TRITON_CACHE_DIR": f"{folder}/triton"}

    def begin_capture(self, recorder, kernels):
        from . import launches
        launches.set_launches(launches.Launches(recorder, kernels))

    def end_capture(self):
        from . import launches
        launches.set_launches(None)

    def is_own_error(self, error):
        return is_compilation_error(error)

    def message_and_line(self, error, path):
        """Triton nests one CompilationError for each call between jit functions, and the deepest one in the captured file says
        the most."""
        source = "".join(linecache.getlines(path))
        line, chain = 0, error
        while chain is not None:
            if is_compilation_error(chain) and (found := line_of_node(chain, source)):
                line = found
            if chain.__cause__ is None:
                break
            chain = chain.__cause__
        message = getattr(chain, "error_message", None) or str(chain)
        return f"{type(chain).__name__}: {message}", line

    def compiler(self):
        from .compiler import compile_kernel
        return compile_kernel

    def programs(self):
        """Triton's package brings ptxas, and cuobjdump, which lists the instructions of edited PTX."""
        triton = sys.modules.get("triton")
        if triton is None:
            return []
        folder = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin")
        names = os.listdir(folder) if os.path.isdir(folder) else []
        flavours = [name for name in names if name.startswith("ptxas") or name in ("cuobjdump", "nvdisasm")]
        return [os.path.join(folder, name) for name in flavours]


def is_compilation_error(error):
    from triton.compiler.errors import CompilationError
    return isinstance(error, CompilationError)


def line_of_node(error, source):
    """Returns the file's line, or 0. Triton counts lines from a function's `def`. That is the function whose text the error
    holds, or the one that calls it: the node itself tells which."""
    name = re.match(r"def\s+(\w+)", error.src or "")
    if name is None or not hasattr(error.node, "lineno"):
        return 0
    functions = [each for each in ast.walk(tree_of(source)) if isinstance(each, ast.FunctionDef)]
    functions.sort(key=lambda each: each.name != name.group(1))
    for function in functions:
        line = function.lineno + error.node.lineno - 1
        if any(getattr(each, "lineno", 0) == line and ast.dump(each) == ast.dump(error.node) for each in ast.walk(function)):
            return line
    return functions[0].lineno + error.node.lineno - 1 if functions and functions[0].name == name.group(1) else 0


def tree_of(source):
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])
