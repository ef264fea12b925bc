"""Checks the files of deploy/ against the program: metrics of the dashboard, and commands of the units, scripts and manifests.

usage: deploy_test.py PATH_OF_TRITONSMITH
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import gym_protocols

BINARY = sys.argv.pop(1) if len(sys.argv) > 1 else os.environ["TRITONSMITH_BINARY"]
DEPLOY = pathlib.Path(__file__).resolve().parent.parent / "deploy"
SERVER = "/usr/bin/redis-check-rdb"  # Debian's redis-tools has the server under this name
TOKEN = "a-token-of-some-length"


def expressions(node):
    """All PromQL expressions of a dashboard."""
    if isinstance(node, dict):
        return [value for key, value in node.items() if key == "expr"] + [each for value in node.values() for each in expressions(value)]
    return [each for value in node for each in expressions(value)] if isinstance(node, list) else []


def command_lines():
    """(file, words) of each call of the program in deploy/, with continued lines joined."""
    for path in sorted(DEPLOY.rglob("*")):
        if path.suffix in (".service", ".sbatch", ".yaml"):
            for line in path.read_text().replace("\\\n", " ").splitlines():
                for call in re.findall(r"tritonsmith (gym (?:serve|work) [^'\n]*)", line) if not line.lstrip().startswith("#") else []:
                    yield path, call.replace('"', " ").split()


class Deploy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        server, self.store = os.path.join(folder.name, "redis-server"), f"unix:{folder.name}/redis.sock"
        os.symlink(SERVER, server)
        self.start(server, "--port", "0", "--unixsocket", self.store[5:], "--dir", folder.name, "--save", "")

    def start(self, *command):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "TRITONSMITH_GYM_TOKEN": TOKEN})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

    def metrics_at(self, url):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                return set(re.findall(r"^# TYPE (\S+)", gym_protocols.read_stream(url, TOKEN, "/metrics"), re.M))
            except OSError:
                time.sleep(0.1)
        self.fail(f"{url} serves no metrics")

    def test_shows_no_metric_that_does_not_exist(self):
        api_server, worker, capture = (f"127.0.0.1:{gym_protocols.free_port()}" for _ in range(3))
        # The processes that write there end first, because cleanups run from the last to the first.
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        home = folder.name
        key = os.path.join(home, "key")
        with open(key, "w") as file:
            file.write("k" * 32)
        self.start(BINARY, "gym", "serve", "--store", self.store, "--listen", api_server)
        self.start(BINARY, "gym", "work", "--store", self.store, "--dir", home, "--metrics", worker)
        self.start(BINARY, "gym", "work", "--store", self.store, "--dir", home, "--metrics", capture, "--role", "capture",
                   "--capture-key", key)
        there = self.metrics_at(f"http://{api_server}") | self.metrics_at(f"http://{worker}") | self.metrics_at(f"http://{capture}")
        there |= {name + suffix for name in there for suffix in ("_bucket", "_sum", "_count")}
        dashboard = json.loads((DEPLOY / "grafana/tritonsmith.json").read_text())
        shown = {name for each in expressions(dashboard) for name in re.findall(r"tritonsmith_\w+", each)}
        self.assertGreater(len(shown), 10)
        self.assertEqual(shown - there, set())

    def test_calls_the_program_with_options_that_it_has(self):
        calls = list(command_lines())
        self.assertGreaterEqual(len(calls), 5)
        for path, words in calls:
            help_text = subprocess.run([BINARY, *words[:2], "--help"], capture_output=True, text=True, check=True).stdout
            options = [word for word in words if word.startswith("--")]
            self.assertIn("--store", options, path)
            if "capture" not in words:  # a host that captures must not have this key
                self.assertIn("--verdict-key", options, f"{path}: verdicts without a seal")
            for option in options:
                self.assertIn(option, help_text, path)

    def test_openenvs_manifest_names_a_command_of_the_program(self):
        manifest = dict(re.findall(r'^(\w+): "?([^"\n]*)"?$', (DEPLOY.parent / "configs/openenv.yaml").read_text(), re.M))
        self.assertLessEqual({"spec_version", "name", "type", "runtime", "app", "port"}, set(manifest))
        program, *words = manifest["app"].split()
        self.assertEqual(program, "tritonsmith")
        self.assertIn(f":{manifest['port']}", words[words.index("--listen") + 1])
        help_text = subprocess.run([BINARY, *words[:2], "--help"], capture_output=True, text=True, check=True).stdout
        for option in words[2:]:
            if option.startswith("--"):
                self.assertIn(option, help_text)

    def test_holds_no_key_and_takes_it_from_where_only_its_owner_reads_it(self):
        credential = "LoadCredential=verdict.key:/etc/tritonsmith/verdict.key"
        for unit in sorted(DEPLOY.rglob("*.service")):
            self.assertIn(credential, unit.read_text().splitlines(), unit)
            self.assertIn("--verdict-key %d/verdict.key", unit.read_text(), unit)
        manifest = (DEPLOY / "kubernetes/gym.yaml").read_text()
        self.assertEqual(manifest.count("--verdict-key /keys/verdict-key"), 2)
        self.assertEqual(manifest.count("items: [{key: verdict-key, path: verdict-key}]"), 2)
        for path in DEPLOY.rglob("*"):
            if path.is_file():
                self.assertNotRegex(path.read_text(), r"\b[0-9a-f]{32,}\b", f"{path} holds a key")


if __name__ == "__main__":
    unittest.main()
