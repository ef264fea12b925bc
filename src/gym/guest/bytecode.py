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


def is_ours(folder):
    """Makes it if need be. One that others may write to is not used: bytecode is run."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        facts = os.stat(folder)
    except OSError:
        return False
    return facts.st_uid == os.geteuid() and not facts.st_mode & 0o022


@contextlib.contextmanager
def kept_in(folder, module):
    """Meanwhile bytecode is read from this folder of ours and left there, unless this module has its own beside it.
    Without a folder, or where it is not ours alone, nothing is kept."""
    before = sys.pycache_prefix, sys.dont_write_bytecode
    if folder and not lies_beside(module) and is_ours(folder):
        sys.pycache_prefix, sys.dont_write_bytecode = folder, False
    try:
        yield
    finally:
        sys.pycache_prefix, sys.dont_write_bytecode = before
