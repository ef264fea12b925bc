"""The wheel: what it holds, and that it works where torch lies beside it and where torch lies elsewhere.

usage: wheel_test.py BUILD_FOLDER (with the Python that has the pinned torch)

tools/prove_wheel does the same in a bare Debian, with everything from PyPI.
"""

import base64
import csv
import hashlib
import io
import json
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import zipfile

BUILD = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = pathlib.Path(sysconfig.get_path("purelib"))


def environment_without(*names):
    return {name: value for name, value in os.environ.items() if name not in names and not name.startswith("TRITONSMITH_")}


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.dist = pathlib.Path(cls.folder.name) / "dist"
        subprocess.run([ROOT / "tools/wheel", BUILD, cls.dist], check=True, stdout=subprocess.DEVNULL)
        [cls.wheel] = cls.dist.glob("*.whl")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def installed(self, name, prepare):
        """The folder of a fresh environment with the wheel, after `prepare` has put torch somewhere."""
        location = pathlib.Path(self.folder.name) / name
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", location], check=True)
        [packages] = location.glob("lib/python3*/site-packages")
        prepare(packages)
        pip = [sys.executable, "-m", "pip", "--python", location / "bin/python", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", self.wheel], check=True)
        return location

    def judged(self, location):
        command = [location / "bin/tritonsmith", "judge", "--task", ROOT / "tests/tasks/softmax.py", "--no-store", "--json",
                   "--kernel", ROOT / "tests/honest/files/softmax__online.py"]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", env=environment_without("PYTHONPATH", "LD_LIBRARY_PATH"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check_mcp_and_write(self, location):
        script = [ROOT / "tests/installed_program.py", location / "bin/tritonsmith", ROOT / "tests/tasks/softmax.py",
                  ROOT / "tests/honest/files/softmax__online.py"]
        done = subprocess.run([sys.executable, *script], capture_output=True, text=True, cwd="/", timeout=300,
                              env=environment_without("PYTHONPATH", "LD_LIBRARY_PATH"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_its_record_is_true_and_it_knows_no_folder_of_this_machine(self):
        with zipfile.ZipFile(self.wheel) as archive:
            [record] = [name for name in archive.namelist() if name.endswith("/RECORD")]
            rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
            self.assertEqual(sorted(row[0] for row in rows), sorted(archive.namelist()))
            for name, digest, _ in rows:
                if digest:
                    found = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b"=").decode()
                    self.assertEqual(digest, f"sha256={found}", name)
            program = archive.read("tritonsmith/bin/tritonsmith")
            self.assertIn(b"$ORIGIN/../lib:$ORIGIN/../../torch/lib\0", program)
            metadata = archive.read(record.replace("RECORD", "METADATA")).decode()
            manual = archive.read(next(name for name in archive.namelist() if name.endswith("tritonsmith.1"))).decode()
        for pin in ("torch", "triton"):
            version = next(line for line in (ROOT / "tools/pins.txt").read_text().splitlines() if line.startswith(f"{pin}=="))
            self.assertIn(f"Requires-Dist: {version}\n", metadata)
        self.assertIn(".SS tritonsmith gym serve", manual)

    def test_it_judges_with_torch_beside_it(self):
        def link(packages):
            # Hard links: the jail shows guests the environment's own folder, and symbolic links would lead out of it.
            if subprocess.run(["cp", "-al", f"{PACKAGES}/.", packages], capture_output=True).returncode != 0:
                self.skipTest(f"{packages} and {PACKAGES} lie on different file systems")

        location = self.installed("beside", link)
        self.assertTrue(self.judged(location)["accepted"])
        self.assertTrue((location / "share/bash-completion/completions/tritonsmith").exists())
        self.check_mcp_and_write(location)
        version = subprocess.run([location / "bin/tritonsmith", "--version"], capture_output=True, text=True).stdout
        self.assertIn(f"-{version.split()[1].rstrip(',')}-", self.wheel.name)

    def test_it_judges_with_torch_elsewhere(self):
        location = self.installed("elsewhere", lambda packages: (packages / "other.pth").write_text(f"{PACKAGES}\n"))
        self.assertTrue(self.judged(location)["accepted"])

    def test_it_says_what_to_install_where_there_is_no_torch(self):
        location = self.installed("without", lambda packages: None)
        done = subprocess.run([location / "bin/tritonsmith", "--version"], capture_output=True, text=True, env=environment_without("PYTHONPATH"))
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"^tritonsmith: .* has no torch; install it: pip install torch==[0-9.]+\n$")


if __name__ == "__main__":
    unittest.main()
