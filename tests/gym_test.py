"""Tests `tritonsmith gym` from outside: serve, submit, status, and their messages if something is wrong.

usage: gym_test.py PATH_OF_TRITONSMITH
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

BINARY = sys.argv.pop(1) if len(sys.argv) > 1 else os.environ["TRITONSMITH_BINARY"]
TOKEN = "a-token-of-some-length"

TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return x + 1.0

def get_inputs():
    return [torch.randn(64)]

def get_init_inputs():
    return []
"""

KERNEL = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def add_one(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) + 1.0)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        add_one[(1,)](x, y, BLOCK=64)
        return y
"""


def run(*arguments, token=TOKEN):
    environment = {name: value for name, value in os.environ.items() if name != "TRITONSMITH_GYM_TOKEN"}
    if token:
        environment["TRITONSMITH_GYM_TOKEN"] = token
    return subprocess.run([BINARY, "gym", *arguments], capture_output=True, text=True, timeout=120, env=environment)


class Gym(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.task, cls.kernel = (os.path.join(cls.folder.name, name) for name in ("task.py", "kernel.py"))
        for path, text in ((cls.task, TASK), (cls.kernel, KERNEL)):
            with open(path, "w") as file:
                file.write(text)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            cls.port = probe.getsockname()[1]
        cls.url = f"http://127.0.0.1:{cls.port}"
        cls.start()

    @classmethod
    def start(cls):
        cls.service = subprocess.Popen(
            [BINARY, "gym", "serve", "--listen", f"127.0.0.1:{cls.port}", "--dir", os.path.join(cls.folder.name, "gym")],
            stderr=subprocess.DEVNULL, env={**os.environ, "TRITONSMITH_GYM_TOKEN": TOKEN})
        for _ in range(200):
            try:
                urllib.request.urlopen(f"{cls.url}/healthz", timeout=5).read()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the service does not answer")

    @classmethod
    def stop(cls):
        cls.service.send_signal(signal.SIGTERM)
        return cls.service.wait(30)

    @classmethod
    def tearDownClass(cls):
        cls.stop()
        cls.folder.cleanup()

    def submit(self, *arguments, token=TOKEN):
        return run("submit", "--url", self.url, "--task", self.task, "--kernel", self.kernel, *arguments, token=token)

    def fails_with(self, done, *words, code=2):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.strip().count("\n"), 0, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_gives_the_verdict_that_judge_gives_and_keeps_it_over_a_restart(self):
        first = self.submit("--json")
        self.assertEqual(first.returncode, 0, first.stderr)
        verdict = json.loads(first.stdout)
        self.assertTrue(verdict["accepted"], first.stdout)
        self.assertEqual((verdict["task"], verdict["file"]), ("task", self.kernel))
        status = run("status", verdict["id"], "--url", self.url, "--json")
        self.assertEqual(json.loads(status.stdout)["state"], "done", status.stdout + status.stderr)
        self.assertIn("accepted", run("status", verdict["id"], "--url", self.url).stdout)
        self.assertEqual(self.stop(), 0)
        type(self).start()
        again = json.loads(self.submit("--json").stdout)
        self.assertTrue(again["from_store"] and again["accepted"])
        self.assertIn("accepted", self.submit().stdout)

    def test_says_which_keys_a_role_needs(self):
        work = lambda *more: run("work", "--store", "unix:/nowhere", *more)
        self.fails_with(work("--role", "judge"), "--role judge needs --capture-key")
        self.fails_with(work("--role", "capture", "--capture-key", "f", "--verdict-key", "f"), "--verdict-key is for hosts that judge")
        self.fails_with(work("--capture-key", "f"), "--capture-key goes with --role")
        with open(os.path.join(self.folder.name, "key"), "w") as file:
            file.write("short")
        self.fails_with(work("--role", "judge", "--capture-key", file.name, "--dir", self.folder.name), "at least 32 characters")

    def test_submits_a_file_of_jobs(self):
        path = os.path.join(self.folder.name, "jobs.jsonl")
        with open(path, "w") as file:
            for kernel in (KERNEL, KERNEL.replace("+ 1.0)", "+ 2.0)"), "no python ("):
                file.write(json.dumps({"task": {"id": "t", "source": TASK}, "kernel": kernel}) + "\n")
        done = run("submit", "--url", self.url, "--jobs", path, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda line: line["line"])
        self.assertEqual([(line["verdict"].get("error") or {}).get("class") for line in lines],
                         [None, "wrong_value", "syntax_error"])
        self.assertEqual([line["file"] for line in lines], [path] * 3)
        self.assertEqual(len({line["id"] for line in lines}), 3)
        text = run("submit", "--url", self.url, "--jobs", path).stdout
        for line in lines:
            self.assertIn(f"{path}:{line['line']} ({line['id']})\n", text)
        with open(path, "a") as file:
            file.write("{}\n")
        self.fails_with(run("submit", "--url", self.url, "--jobs", path), "jobs.jsonl:4", "kernel")

    def test_tells_its_status(self):
        done = run("status", "--url", self.url, "--json")
        self.assertEqual(json.loads(done.stdout)["works"], True, done.stderr)
        text = run("status", "--url", self.url).stdout
        self.assertIn(f"{self.url} takes jobs\n", text)
        self.assertRegex(text, r"HOST +ROLE +DEVICES +LOAD")
        self.fails_with(run("status", "--url", self.url, "0123"), "404", "no such job")

    def test_lets_an_operator_decide_which_gpus_judge(self):
        quarantine = lambda *more: run("quarantine", *more, "--url", self.url)
        self.assertIn("no GPU is in quarantine", quarantine("list").stdout)
        added = quarantine("add", "GPU-1", "--reason", "its fan is loud")
        self.assertIn("GPU-1 judges no more", added.stdout, added.stderr)
        self.assertIn("0 jobs are judged again", added.stdout)
        self.assertIn("its fan is loud", quarantine("list").stdout)
        self.assertIn("its fan is loud", run("status", "--url", self.url).stdout)
        self.assertTrue(self.submit("--fresh").stdout, "a gym on the CPU has no such GPU, and judges on")
        self.assertIn("judges again", quarantine("clear", "GPU-1", "--recalibrate").stdout)
        self.fails_with(quarantine("clear", "GPU-1"), "404", "in no quarantine")
        self.fails_with(quarantine("add", "GPU 1"), "400", "UUID")

    def get(self, path, token=TOKEN, method="GET"):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            return urllib.request.urlopen(urllib.request.Request(self.url + path, headers=headers, method=method), timeout=5)
        except urllib.error.HTTPError as refused:
            return refused

    def test_tells_liveness_from_readiness_and_a_wrong_method_from_a_wrong_path(self):
        self.assertTrue(json.loads(self.submit("--json").stdout)["accepted"])
        for path in ("/livez", "/readyz"):
            self.assertEqual(self.get(path, token=None).status, 200)
        wrong = self.get("/v1/jobs", method="PUT")
        self.assertEqual((wrong.status, wrong.headers["Allow"]), (405, "DELETE, POST"))
        metrics = self.get("/metrics").read().decode()
        self.assertIn("tritonsmith_ready 1\n", metrics)
        self.assertRegex(metrics, r'tritonsmith_device_verdicts_total\{device="(cpu|cuda):0"\} \d')

    def test_serves_several_tokens_and_logs_who_asks(self):
        tokens = os.path.join(self.folder.name, "tokens.toml")
        with open(tokens, "w") as file:
            file.write(f'[ann]\ntoken = "{TOKEN}"\nrequests_per_minute = 2\n')
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        service = subprocess.Popen(
            [BINARY, "gym", "serve", "--listen", f"127.0.0.1:{port}", "--dir", os.path.join(self.folder.name, "tokens"),
             "--tokens", tokens, "--set", "access_log=json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            said = service.stderr.readline()
            while "serving on" not in said:
                said = service.stderr.readline()
                self.assertTrue(said, "the service ended")
            self.assertRegex(said, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z gym: ")
            request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/status", headers={"Authorization": f"Bearer {TOKEN}"})
            for _ in range(2):
                urllib.request.urlopen(request, timeout=5).read()
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=5)
            self.assertEqual(refused.exception.code, 429)
            entries = [json.loads(service.stdout.readline()) for _ in range(3)]
            # Each request's thread writes its entry after the reply, so the order may differ.
            self.assertEqual(sorted((entry["token"], entry["status"]) for entry in entries), [("ann", 200), ("ann", 200), ("ann", 429)])
        finally:
            service.send_signal(signal.SIGTERM)
            service.communicate(timeout=60)

    def test_lets_no_stranger_in(self):
        self.fails_with(self.submit(token="another-token-of-that-length"), self.url, "token")
        self.fails_with(self.submit(token=None), self.url, "token")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{self.url}/metrics", timeout=5)
        self.assertEqual(refused.exception.code, 401)
        self.assertEqual(json.load(refused.exception)["error"]["code"], "unauthorized")

    def test_says_in_one_line_why_it_does_not_serve(self):
        other = os.path.join(self.folder.name, "other")
        self.fails_with(run("serve", "--listen", f"127.0.0.1:{self.port}", "--dir", other), str(self.port), "another program")
        self.fails_with(run("serve", "--listen", "127.0.0.1:0", "--dir", os.path.join(self.folder.name, "gym")), "gym", "--dir")
        self.fails_with(run("serve", "--listen", "nowhere", "--dir", other), "HOST:PORT")
        self.fails_with(run("serve", "--listen", "0.0.0.0:0", "--dir", other, token=None), "token")
        self.fails_with(run("serve", "--listen", "127.0.0.1:0", "--dir", other, token="short"), "TRITONSMITH_GYM_TOKEN")
        self.fails_with(run("serve", "--listen", "127.0.0.1:0", "--dir", other, "--set", "batches=3"), "batches", "batch")
        tokens = os.path.join(self.folder.name, "bad.toml")
        with open(tokens, "w") as file:
            file.write('[ann]\ntoken = "short"\n')
        self.fails_with(run("serve", "--listen", "127.0.0.1:0", "--dir", other, "--tokens", tokens), "bad.toml", "[ann]")
        with open(other + ".file", "w"):
            pass
        self.fails_with(run("serve", "--listen", "127.0.0.1:0", "--dir", other + ".file"), "other.file")

    def test_says_in_one_line_that_nobody_serves(self):
        self.fails_with(run("status", "--url", "http://127.0.0.1:1"), "127.0.0.1:1", code=3)
        self.fails_with(run("submit", "--url", "http://127.0.0.1:1", "--task", self.task, "--kernel", self.kernel),
                        "127.0.0.1:1", code=3)
        self.fails_with(run("submit", "--url", self.url, "--task", "missing.py", "--kernel", self.kernel), "missing.py")


if __name__ == "__main__":
    unittest.main()
