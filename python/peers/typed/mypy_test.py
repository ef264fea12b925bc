"""Checks the types of the Python package with mypy, as Python 3.10 has them."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = HERE.parent.parent


def checked(*files):
    """What mypy says about the files."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "mypy", "--config-file", HERE / "mypy.ini", "--cache-dir", cache, *files]
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(PYTHON)})


class Types(unittest.TestCase):
    def test_the_package_is_typed_throughout(self):
        done = checked(PYTHON / "tritonsmith", PYTHON / "tritonsmith_kernels.py")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_whoever_uses_the_package_gets_its_types(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "user.py"
            file.write_text("import tritonsmith\n\nfaster: float = tritonsmith.Verdict({}).speedup\n")
            done = checked(file)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("user.py:3: error: Incompatible types", done.stdout)

    def test_a_name_that_python_3_10_lacks_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "newer.py"
            file.write_text("from asyncio import TaskGroup\n")
            done = checked(file)
        self.assertIn('has no attribute "TaskGroup"', done.stdout)


if __name__ == "__main__":
    unittest.main()
