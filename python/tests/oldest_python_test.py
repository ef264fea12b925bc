"""Checks that Python 3.10, the oldest that the package supports, understands it.

mypy (python/peers/typed) checks names of the standard library more strictly. Where a python3.10 is installed, it imports the
package.
"""

import ast
import pathlib
import shutil
import subprocess
import sys
import unittest

PYTHON = pathlib.Path(__file__).resolve().parent.parent
FILES = [*sorted((PYTHON / "tritonsmith").glob("*.py")), PYTHON / "tritonsmith_kernels.py"]
OLDEST = (3, 10)
# Modules that need another project, and are imported only beside it.
ADAPTERS = {"skyrl", "verifiers_v0", "verifiers_v1"}
# Names that newer versions of Python added, and that code like ours uses.
NEWER_MODULES = {"tomllib", "compression", "annotationlib"}
NEWER_NAMES = {
    "asyncio": {"Barrier", "Runner", "TaskGroup", "timeout", "timeout_at"},
    "builtins": {"BaseExceptionGroup", "ExceptionGroup", "PythonFinalizationError"},
    "contextlib": {"chdir"},
    "datetime": {"UTC"},
    "enum": {"StrEnum", "member", "nonmember", "verify"},
    "hashlib": {"file_digest"},
    "itertools": {"batched"},
    "typing": {"LiteralString", "Never", "NotRequired", "Required", "Self", "TypeVarTuple", "Unpack", "assert_never", "assert_type",
               "dataclass_transform", "override", "reveal_type"},
}


def newer_names(source):
    """Names of newer versions of Python in a source."""
    tree = ast.parse(source, feature_version=OLDEST)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names if each.name.split(".")[0] in NEWER_MODULES}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {node.module} & NEWER_MODULES
            found |= {f"{node.module}.{each.name}" for each in node.names if each.name in NEWER_NAMES.get(node.module, ())}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in NEWER_NAMES.get(node.value.id, ()):
                found.add(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.Name) and node.id in NEWER_NAMES["builtins"]:
            found.add(node.id)
    return found


def oldest_python():
    """An interpreter of the oldest version, or None. A version manager's command may be there without the version."""
    candidates = [sys.executable] if sys.version_info[:2] == OLDEST else [shutil.which("python3.10")]
    works = lambda each: each and subprocess.run([each, "-c", ""], stderr=subprocess.DEVNULL).returncode == 0
    return next(filter(works, candidates), None)


class OldestPython(unittest.TestCase):
    def test_its_syntax_and_its_standard_library_are_enough(self):
        self.assertGreater(len(FILES), 15)
        for path in FILES:
            with self.subTest(path.name):
                self.assertEqual(newer_names(path.read_text()), set())

    def test_newer_syntax_and_names_are_found(self):
        with self.assertRaises(SyntaxError):
            newer_names("try:\n    f()\nexcept* OSError:\n    pass\n")
        source = "import asyncio\nimport tomllib\nfrom typing import Self\nasyncio.TaskGroup()\nExceptionGroup('', [])\n"
        self.assertEqual(newer_names(source), {"tomllib", "typing.Self", "asyncio.TaskGroup", "ExceptionGroup"})

    def test_it_imports_in_the_oldest_python(self):
        oldest = oldest_python()
        if oldest is None:
            self.skipTest("no python3.10 on this machine")
        modules = ", ".join(f"tritonsmith.{path.stem}" for path in FILES
                            if path.parent.name == "tritonsmith" and path.stem not in {"__init__", *ADAPTERS})
        subprocess.run([oldest, "-c", f"import {modules}"], check=True, env={"PYTHONPATH": str(PYTHON), "PYTHONDONTWRITEBYTECODE": "1"})


if __name__ == "__main__":
    unittest.main()
