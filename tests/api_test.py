#!/usr/bin/env python3
"""Tests `eval` and `write` with a model behind a server of OpenAI's protocol, over TLS.

The server is this script. It fails in several ways before it answers with a kernel.

usage: api_test.py PATH_OF_TRITONSMITH
"""
import http.server
import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

BINARY = sys.argv.pop(1)
TESTS = pathlib.Path(__file__).resolve().parent
TASK = TESTS / "tasks/scale_relu.py"
KERNEL = (TESTS / "honest/files/scale_relu__temporaries.py").read_text()
ANSWER = f"Here it is.\n```python\n{KERNEL}\n```\n"
KEY = "sk-a-key-that-no-record-may-hold"


class Server(http.server.ThreadingHTTPServer):
    """Answers with KERNEL, and with a fault to the requests whose numbers are in `faults`."""

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.certificate, key = folder / "certificate.pem", folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", key, "-out", self.certificate, "-days", "2", "-subj", "/CN=127.0.0.1",
                        "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.bodies, self.faults, self.lock = [], {}, threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"https://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, address):
        pass  # a client that does not trust the certificate leaves


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def send(self, status, content_type, body):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(body)

    def allowed(self):
        if self.headers["Authorization"] == f"Bearer {KEY}":
            return True
        self.send(401, "application/json", b'{"error":{"message":"wrong key"}}')
        return False

    def do_GET(self):
        if self.allowed():
            self.send(200, "application/json", b'{"data":[{"id":"big","max_model_len":8192}]}')

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.allowed():
            return
        with self.server.lock:
            fault = self.server.faults.get(len(self.server.bodies))
            self.server.bodies.append(body)
        if fault:
            return self.send(*fault)
        events = [{"choices": [{"delta": {"reasoning_content": "I think."}}]},
                  {"choices": [{"delta": {"content": ANSWER[:40]}}]},
                  {"choices": [{"delta": {"content": ANSWER[40:]}, "finish_reason": "stop"}]},
                  {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 50}}]
        self.send(200, "text/event-stream",
                  b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in events) + b"data: [DONE]\n\n")


class RemoteModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.server = Server(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()
        cls.temporary.cleanup()

    def setUp(self):
        self.server.bodies.clear()
        self.server.faults = {}

    def run_program(self, *words, key=KEY, trust=True):
        trusted = ["--api", f"ca_file={self.server.certificate}"] if trust else []
        return subprocess.run([BINARY, *map(str, words), "--base-url", self.server.url, *trusted],
                              capture_output=True, text=True, timeout=300, env={**os.environ, "OPENAI_API_KEY": key})

    def refused(self, done, *needles, code=2):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for needle in needles:
            self.assertIn(needle, done.stderr)

    def test_eval_outlasts_faults_and_asks_nothing_twice(self):
        suite, out = self.folder / "suite", self.folder / "eval"
        suite.mkdir()
        (suite / TASK.name).write_text(TASK.read_text())
        self.server.faults = {0: (500, "text/plain", b"oops"), 1: (429, "application/json", b"{}"),
                              2: (200, "text/event-stream", b'data: {"choices":[{"delta":{"content":"cut"}}]}\n\n'),
                              3: (200, "application/json", b'{"choices":')}
        command = ("eval", "--suite", suite, "--model", "openai:big", "--out", out, "--samples", 1, "--backend", "evaluate",
                   "--api", "first_wait_seconds=0.01", "--api", "prices.output=1000")
        done = self.run_program(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        evaluation = json.loads((out / "evaluation.json").read_text())
        self.assertEqual(evaluation["sampled"]["accepted"], 1, done.stdout + done.stderr)
        self.assertEqual(len(self.server.bodies), 6)
        samples = [json.loads(line) for line in (out / "samples.jsonl").read_text().splitlines()]
        self.assertEqual([each["completion"]["reasoning"] for each in samples], ["I think."] * 2)
        self.assertEqual(sorted(body["temperature"] for body in self.server.bodies[-2:]), [0.0, 1.0])
        self.assertEqual(self.server.bodies[0]["max_tokens"], 4096)  # half of the model's context
        spent = json.loads((out / "api.json").read_text())
        self.assertEqual((spent["requests"], spent["completion_tokens"], spent["cost"]), (2, 100, 0.1))
        for path in out.rglob("*"):
            self.assertTrue(path.is_dir() or KEY.encode() not in path.read_bytes(), path)
        # As after a kill before the first sample was recorded.
        (out / "samples.jsonl").unlink()
        (out / "evaluation.json").unlink()
        done = self.run_program(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.server.bodies), 6)

    def test_write_gives_the_verified_kernel(self):
        done = self.run_program("write", TASK, "--model", "openai:big", "--samples", 1, "--backend", "evaluate",
                                "--api", "stream=false")
        self.assertEqual((done.returncode, done.stdout.strip()), (0, KERNEL.strip()), done.stderr)
        self.assertIn("1 requests, 100 prompt tokens", done.stderr)

    def test_write_takes_a_class_of_somebodys_code(self):
        package = self.folder / "package"
        package.mkdir()
        (package / "ops.py").write_text("import torch\ndef relu(x):\n    return torch.relu(x)\n")
        (package / "net.py").write_text(TASK.read_text().split("def get_inputs")[0].replace("class Model(", "class Scaled(")
                                        .replace("torch.relu", "ops.relu") + "\nfrom . import ops\nraise SystemExit('ran')\n")
        done = self.run_program("write", f"{package}/net.py:Scaled", "--inputs", "randn(32, 100)", "--inputs", "randn(7)",
                                "--model", "openai:big", "--samples", 1, "--backend", "evaluate")
        self.assertEqual((done.returncode, done.stdout.strip()), (0, KERNEL.strip()), done.stderr)
        self.assertIn("Scaled with randn(7): verified", done.stderr)
        prompt = self.server.bodies[-1]["messages"][-1]["content"]
        self.assertIn("class Model(Scaled)", prompt)
        self.assertIn("# It is also called with torch.randn(7)", prompt)

    def test_mistakes_are_one_line(self):
        words = ("write", TASK, "--model", "openai:big")
        self.refused(self.run_program(*words, key="wrong"), "refuses the key", "wrong key", "OPENAI_API_KEY")
        self.refused(self.run_program(*words, key="two words"), "OPENAI_API_KEY: the key has a character")
        self.refused(self.run_program("write", TASK, "--model", "openai:bug"), "has no model 'bug'; did you mean 'big'?")
        self.refused(self.run_program("write", TASK, "--model", "openai:"), "the model's name is missing")
        self.refused(self.run_program(*words, trust=False), "is not trusted", "ca_file", code=3)
        self.refused(self.run_program(*words, "--api", "request=1"), "--api: unknown key 'request'; did you mean 'requests'?")
        self.refused(self.run_program("write", TASK, "--model", self.folder), "--model openai:NAME")


if __name__ == "__main__":
    unittest.main()
