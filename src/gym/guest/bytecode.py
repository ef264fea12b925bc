"""Keeps bytecode for an environment that has none.

uv installs packages without bytecode, and some images set PYTHONDONTWRITEBYTECODE. Without bytecode each process compiles
PyTorch's sources again, and its start takes twice as long.
"""

import contextlib
import importlib.util
import os
import sys


def lies_beside(module):
    spec = importlib.util.find_spec(module)
    return spec is None or os.path.exists(importlib.util.cache_from_source(spec.origin))


def is_ours(folder):
    """Whether only this user may write to the folder, which this makes if it is missing.

    Python executes bytecode, so a folder that others may write to must not be used."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        facts = os.stat(folder)
    except OSError:
        return False
    return facts.st_uid == os.geteuid() and not facts.st_mode & 0o022


@contextlib.contextmanager
def kept_in(folder, module):
    """Makes Python read and write bytecode in this folder while the context is open.

    Nothing changes if the module has bytecode beside it, if no folder is given, or if others may write to the folder."""
    before = sys.pycache_prefix, sys.dont_write_bytecode
    if folder and not lies_beside(module) and is_ours(folder):
        sys.pycache_prefix, sys.dont_write_bytecode = folder, False
    try:
        yield
    finally:
        sys.pycache_prefix, sys.dont_write_bytecode = before
