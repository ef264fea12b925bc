#!/usr/bin/env python3
"""tests/gym_on_gpu.py's step "unit tests", with test programs that only print what GoogleTest would."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "gym_on_gpu.py"
ALL_PASS = 'echo "[  PASSED  ] 17 of 17 tests."'


class UnitTests(unittest.TestCase):
    def told(self, **programs):
        """The step's row of the table, where these programs stand for the real ones."""
        with tempfile.TemporaryDirectory() as folder:
            for name, script in {"tritonsmith-referee": "", **programs}.items():
                path = pathlib.Path(folder) / name
                path.write_text(f"#!/bin/sh\n{script}\n")
                path.chmod(0o755)
            command = [sys.executable, SCRIPT, folder, "--only", "unit tests"]
            return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[-1]

    def test_every_layer_with_tests_for_a_gpu_is_run(self):
        row = self.told(referee_gpu_test=ALL_PASS, timing_gpu_test='echo "[  PASSED  ] 9 tests."')
        self.assertRegex(row, r"^ok .* referee 17, timing 9$")

    def test_a_failure_in_any_layer_fails_the_step(self):
        failing = 'echo "[  PASSED  ] 8 tests."; echo "[  FAILED  ] 1 test"; exit 1'
        self.assertRegex(self.told(referee_gpu_test=ALL_PASS, timing_gpu_test=failing), r"^FAILED .*1 test$")

    def test_a_program_that_is_missing_or_skips_its_tests_fails_the_step(self):
        self.assertRegex(self.told(referee_gpu_test=ALL_PASS), r"^FAILED .*timing_gpu_test is not below")
        skipping = 'echo "[  PASSED  ] 0 tests."; echo "[  SKIPPED ] 9 tests."'
        self.assertRegex(self.told(referee_gpu_test=ALL_PASS, timing_gpu_test=skipping), r"^FAILED ")


if __name__ == "__main__":
    unittest.main()
