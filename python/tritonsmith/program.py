"""The program `tritonsmith`: where it is, and the environment that it needs.

The wheel holds the program. Its LibTorch is the one of the `torch` package, and the Python that runs candidates and tasks
is the one that runs this. `main` is the wheel's console script: it becomes the program and leaves nothing of itself.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
from pathlib import Path
from typing import NoReturn, Optional

from tritonsmith.errors import JudgeError

__all__ = ["environment_for", "find_program", "main"]

_FAULT = 3  # The program's own exit code where the call is right and there is no result (src/cli/call/exit_code.h).
_BUNDLED = Path(__file__).parent / "bin" / "tritonsmith"


def find_program(named: Optional[str] = None) -> str:
    """Returns the program's path: the one named, $TRITONSMITH_BINARY, the wheel's own, or the first in the PATH."""
    for path in (named, os.environ.get("TRITONSMITH_BINARY")):
        if path:
            if os.access(path, os.X_OK):
                return path
            raise JudgeError(f"{path} is no program that can be run")
    if _BUNDLED.exists():
        return str(_BUNDLED)
    found = shutil.which("tritonsmith")
    if found:
        return found
    raise JudgeError("there is no program `tritonsmith` here: install the wheel, or set TRITONSMITH_BINARY to build/tritonsmith")


def environment_for(program: str) -> dict[str, str]:
    """Returns the environment for the program. One that was built here knows its libraries and its Python by itself."""
    environment = dict(os.environ)
    if Path(program) != _BUNDLED:
        return environment
    environment.setdefault("TRITONSMITH_PYTHON", sys.executable)
    # The program looks for libraries beside its own package; they may lie elsewhere, in the user's own folder say.
    site = _BUNDLED.parents[2]
    wanted = [(_torch_folder() / "lib", site / "torch" / "lib"), (_folder_of("pyarrow"), site / "pyarrow")]
    elsewhere = [str(folder) for folder, beside in wanted if folder and not (beside.exists() and beside.samefile(folder))]
    if elsewhere:
        others = [path for path in environment.get("LD_LIBRARY_PATH", "").split(":") if path]
        environment["LD_LIBRARY_PATH"] = ":".join([*elsewhere, *others])
    return environment


def _folder_of(package: str) -> Optional[Path]:
    """The folder of a package that need not be there."""
    found = importlib.util.find_spec(package)
    return Path(found.origin).parent if found is not None and found.origin else None


def _torch_folder() -> Path:
    wanted = _pinned("torch")
    found = importlib.util.find_spec("torch")
    if found is None or not found.origin:
        raise JudgeError(f"{sys.executable} has no torch; install it: pip install torch{'==' + wanted if wanted else ''}")
    version = importlib.metadata.version("torch").split("+")[0]
    if wanted and version != wanted:
        raise JudgeError(f"this program is built for torch {wanted}, and {sys.executable} has {version}: pip install torch=={wanted}")
    return Path(found.origin).parent


def _pinned(name: str) -> str:
    """The version of a package that the wheel depends on; empty where this is no installed wheel."""
    try:
        requirements = importlib.metadata.requires("tritonsmith") or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    for requirement in requirements:
        match = re.fullmatch(rf"{name}\s*\(?==\s*([^\s;)]+)\)?.*", requirement)
        if match:
            return match.group(1)
    return ""


def main() -> NoReturn:
    """Becomes the program, with the arguments of this process."""
    try:
        program = find_program(str(_BUNDLED) if _BUNDLED.exists() else None)
        environment = environment_for(program)
    except JudgeError as error:
        print(f"tritonsmith: {error}", file=sys.stderr)
        sys.exit(_FAULT)
    os.execve(program, ["tritonsmith", *sys.argv[1:]], environment)
