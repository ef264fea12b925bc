"""ServiceTest is a test class with two services of this machine: one that judges, and one whose judge never starts.

Each starts once for all tests. `url` and `broken_url` have no token, since both listen on this machine only.
"""

import atexit
import collections
import functools
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = os.environ["TRITONSMITH_BINARY"]
TASK = (ROOT / "tests/tasks/softmax.py").read_text()
KERNEL = (ROOT / "tests/honest/files/softmax__online.py").read_text()
WRONG_KERNEL = KERNEL.replace("tl.exp(", "tl.sin(")


def completion(kernel):
    return f"<thinking>online</thinking><answer>\n```python\n{kernel}```\n</answer>"


@functools.lru_cache(maxsize=None)
def suite():
    """A folder with the one task `softmax`."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    (pathlib.Path(folder.name) / "softmax.py").write_text(TASK)
    return folder.name


@functools.lru_cache(maxsize=None)
def serve(broken=False, token="", settings=()):
    """Starts a service and returns its URL."""
    folder = tempfile.TemporaryDirectory()
    environment = {name: value for name, value in os.environ.items() if name != "TRITONSMITH_GYM_TOKEN"}
    if token:
        environment["TRITONSMITH_GYM_TOKEN"] = token
    if broken:
        environment["TRITONSMITH_PYTHON"] = "/bin/false"
    command = [BINARY, "gym", "serve", "--listen", "127.0.0.1:0", "--dir", folder.name, "--suite", suite()]
    for setting in settings:
        command += ["--set", setting]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)

    def stop():
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        folder.cleanup()

    atexit.register(stop)
    told = []
    for line in process.stderr:
        told.append(line)
        if found := re.search(r"serving on 127\.0\.0\.1:(\d+)", line):
            # The service logs for as long as it lives. A full pipe would block it, and every client with it.
            threading.Thread(target=collections.deque, args=(process.stderr, 0), daemon=True).start()
            return f"http://127.0.0.1:{found[1]}"
    raise AssertionError("gym serve did not start: " + "".join(told))


class ServiceTest(unittest.IsolatedAsyncioTestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.url, cls.broken_url = serve(), serve(broken=True)
