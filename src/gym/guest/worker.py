"""The compile worker's loop inside the jail: it turns requests into cubins until the other side closes the socket.

The worker is jailed because it parses hostile IR. It keeps its memory from one kernel to the next. So tritonsmith lets it
serve a bounded number of requests and then has the zygote fork a fresh one. tritonsmith detects time-outs and crashes.
The worker may start only the programs of a language's compiler, such as an assembler.
"""

import os
import time

from tritonsmith_guest import frames
from tritonsmith_guest.languages import LANGUAGES

# The exit code of a worker whose program was killed, perhaps for lack of memory. In C++: kProgramKilled of compiler_pool.h.
PROGRAM_KILLED = 75
LOADERS = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]


def programs():
    """Returns the programs that a worker may execute: those of the kernel languages, and the dynamic loader."""
    own = [program for language in LANGUAGES for program in language.programs()]
    if not own:
        return []
    return [*own, *(os.path.realpath(path) for path in LOADERS if os.path.exists(path))]


def cpu_seconds():
    """Returns the CPU time of this process and of the programs that it has started and that have ended."""
    return sum(os.times()[:4])


def serve(connection, compile_kernel):
    while True:
        try:
            request = frames.read(connection)
        except EOFError:
            return 0
        start, cpu_start = time.monotonic_ns(), cpu_seconds()
        try:
            reply = compile_kernel(request)
        except BaseException as error:  # compile_kernel promises not to raise, but LLVM's bindings might
            reply = {"error": {"class": "compile_error", "message": f"{type(error).__name__}: {error}"[:4000]}}
        reply["compile_ms"] = (time.monotonic_ns() - start) / 1e6
        reply["cpu_ms"] = 1e3 * (cpu_seconds() - cpu_start)
        frames.write(connection, reply)
