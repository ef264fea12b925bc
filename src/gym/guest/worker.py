"""The compile worker's life after its jail: requests in, cubins out, until the other side closes the socket.

It parses hostile IR and is jailed for that, yet keeps its memory from one kernel to the next, so tritonsmith lets it
serve a bounded number of requests and forks a fresh one from the zygote. Time-outs and crashes are seen from outside.
It may start one program: ptxas.
"""

import os
import sys
import time

from tritonsmith_guest import frames

LOADERS = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]


def programs():
    """What a worker may execute: Triton's own ptxas of every flavour, and the dynamic loader they need."""
    triton = sys.modules.get("triton")
    if triton is None:
        return []
    folder = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin")
    flavours = [name for name in os.listdir(folder) if name.startswith("ptxas")] if os.path.isdir(folder) else []
    loaders = [os.path.realpath(path) for path in LOADERS if os.path.exists(path)]
    return [*(os.path.join(folder, name) for name in flavours), *loaders]


def serve(connection, compile_kernel):
    while True:
        try:
            request = frames.read(connection)
        except EOFError:
            return 0
        start = time.monotonic_ns()
        try:
            reply = compile_kernel(request)
        except BaseException as error:  # it never raises by contract; LLVM's bindings may know better
            reply = {"error": {"class": "compile_error", "message": f"{type(error).__name__}: {error}"[:4000]}}
        reply["compile_ms"] = (time.monotonic_ns() - start) / 1e6
        frames.write(connection, reply)
