"""Triton as the guests see it: what they import and replace, what a compile worker may start, and what Triton's errors say.

The guests' other modules ask this module and do not know Triton themselves. Only functions here import Triton, because the
zygote imports this module before Triton.
"""

import linecache
import os
import re
import sys

# Importing these modules imports everything of Triton that a capture needs from the environment.
MODULES = ["triton", "triton.compiler.code_generator", "triton.experimental.gluon", "triton.language.extra.libdevice",
           "triton.tools.tensor_descriptor", "torch._inductor.utils", "torch._inductor.runtime.triton_heuristics"]
# A candidate must not replace what is in these modules.
WATCHED_MODULES = ("triton", "triton.language", "triton.language.core", "triton.language.standard", "triton.language.math",
                   "triton.testing", "triton.runtime.jit", "triton.runtime.autotuner")


def watched_classes():
    """Returns the classes whose members a candidate must not replace."""
    import triton
    import triton.language
    import triton.testing
    return triton.runtime.JITFunction, triton.runtime.Autotuner


def environment(folder):
    """Returns the environment variables by which Triton keeps its files in this folder."""
    return {"TRITON_HOME": folder, "TRITON_CACHE_DIR": f"{folder}/triton"}


def programs():
    """Returns the programs of Triton that assemble and list, which a compile worker may start. Returns None if the process has
    not imported Triton."""
    triton = sys.modules.get("triton")
    if triton is None:
        return None
    folder = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    flavours = [name for name in names if name.startswith("ptxas") or name in ("cuobjdump", "nvdisasm")]
    return [os.path.join(folder, name) for name in flavours]


def install():
    """Makes Triton ask the virtual GPU and record launches, in the whole process."""
    from . import inductor, launches, libdevice, triton_driver
    triton_driver.install()
    libdevice.install()
    launches.install()
    inductor.install()


def warm_up(capture_sample):
    """Captures and compiles samples. `capture_sample` turns a request into a plan."""
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


def is_own_error(error):
    """Tells whether Triton's compiler raised this."""
    from triton.compiler.errors import CompilationError
    return isinstance(error, CompilationError)


def message_and_line(error, path):
    """Returns the message and the line of the most telling error. Triton nests one CompilationError for each call between jit
    functions, and the deepest one in the captured file says the most."""
    source = "".join(linecache.getlines(path))
    line, chain = 0, error
    while chain is not None:
        if is_own_error(chain) and (found := line_of_node(chain, source)):
            line = found
        if chain.__cause__ is None:
            break
        chain = chain.__cause__
    message = getattr(chain, "error_message", None) or str(chain)
    return f"{type(chain).__name__}: {message}", line


def line_of_node(error, source):
    """Returns the file's line. Triton counts lines from the function's `def`, so this searches for the function's name."""
    name = re.match(r"def\s+(\w+)", error.src or "")
    if name is None or not hasattr(error.node, "lineno"):
        return 0
    found = re.search(rf"^[ \t]*def\s+{name.group(1)}\s*\(", source, re.MULTILINE)
    return source.count("\n", 0, found.start()) + error.node.lineno if found else 0
