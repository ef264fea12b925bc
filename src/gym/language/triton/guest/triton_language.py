"""TritonLanguage: Triton as the guests' shared modules see it (language.py)."""

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
            for kernel in capture_sample(candidate_request(plan, candidate, "candidate.py"))["kernels"]:
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
    """Returns the file's line. Triton counts lines from the function's `def`, so this searches for the function's name."""
    name = re.match(r"def\s+(\w+)", error.src or "")
    if name is None or not hasattr(error.node, "lineno"):
        return 0
    found = re.search(rf"^[ \t]*def\s+{name.group(1)}\s*\(", source, re.MULTILINE)
    return source.count("\n", 0, found.start()) + error.node.lineno if found else 0
