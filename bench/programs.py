"""Finds the programs that a benchmark drives."""
import os
import pathlib
import sys


def program(folder, name):
    """Returns the path of a program below the folder."""
    found = [path for path in sorted(pathlib.Path(folder).resolve().rglob(name)) if path.is_file() and os.access(path, os.X_OK)]
    if not found:
        sys.exit(f"{name} is not below {folder}: name the build folder, or build it")
    return str(found[0])
