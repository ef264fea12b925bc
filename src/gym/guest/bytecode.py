"""Bytecode for an environment without any: one that uv installed, or an image's with PYTHONDONTWRITEBYTECODE.

Each process would else compile PyTorch's sources anew, for which it takes twice as long to start.
"""

import contextlib
import importlib.util
import os
import sys


def lies_beside(module):
    spec = importlib.util.find_spec(module)
    return spec is None or os.path.exists(importlib.util.cache_from_source(spec.origin))


@contextlib.contextmanager
def kept_in(folder, module):
    """Meanwhile bytecode is read from this folder of ours and left there, unless this module has its own beside it.
    Without a folder, or where it cannot be written to, nothing is kept."""
    before = sys.pycache_prefix, sys.dont_write_bytecode
    if folder and not lies_beside(module):
        with contextlib.suppress(OSError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        sys.pycache_prefix, sys.dont_write_bytecode = folder, False
    try:
        yield
    finally:
        sys.pycache_prefix, sys.dont_write_bytecode = before
