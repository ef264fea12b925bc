"""Replaces warm, capture and compiler in tests of the pools. It starts quickly and does what a test tells it."""

import base64
import os
import signal
import sys
import time


def preload(bytecode_folder):
    pass


def warm():
    pass


def capture(request):
    """Runs the source and returns the value that it left in `answer`."""
    scope = {"request": request}
    try:
        exec(compile(request["source"], request["path"], "exec"), scope)
    except BaseException as error:
        return {"error": {"class": "exception", "message": f"{type(error).__name__}: {error}", "line": 1,
                          "excerpt": request["source"][:100]}, "stage": "parsed"}
    return {"plan": {"answer": scope.get("answer")}}


def compile_kernel(request):
    words = request["ttir"].split()
    if words[0] == "crash" or (words[0] == "crash_once" and not os.path.exists(words[1])):
        os.kill(os.getpid(), signal.SIGSEGV)
    if words[0] == "lose_program":
        from tritonsmith_guest.worker import PROGRAM_KILLED
        os._exit(PROGRAM_KILLED)
    if words[0] == "exit":
        os._exit(int(words[1]))
    if words[0] == "hang":
        time.sleep(3600)
    if words[0] == "raise":
        raise ValueError("the compiler is confused")
    if words[0] == "refuse":
        return {"error": {"class": "compile_error", "message": "no such operation"}}
    cubin = f"{os.getpid()} {' '.join(words)}".encode()
    return {"cubin": base64.b64encode(cubin).decode(), "name": "trial", "registers": 32, "spills": 0,
            "shared_bytes": 128}
