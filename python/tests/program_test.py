"""The wheel's command `tritonsmith` where it cannot become the program."""

import os
import subprocess
import sys
import unittest


class Command(unittest.TestCase):
    def test_a_program_that_is_missing_is_a_fault_and_no_verdict(self):
        environment = {**os.environ, "TRITONSMITH_BINARY": "/nowhere/tritonsmith"}
        command = [sys.executable, "-c", "import tritonsmith.program; tritonsmith.program.main()", "--version"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        self.assertEqual(done.stderr, "tritonsmith: /nowhere/tritonsmith is no program that can be run\n")
        self.assertEqual(done.returncode, 3)


if __name__ == "__main__":
    unittest.main()
