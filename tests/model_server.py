"""A model behind a server of OpenAI's protocol, over TLS, for tests of the program from outside."""
import http.server
import json
import os
import pathlib
import re
import ssl
import subprocess
import tempfile
import threading
import unittest

TESTS = pathlib.Path(__file__).resolve().parent
TASK = TESTS / "tasks/scale_relu.py"
KERNEL = (TESTS / "honest/files/scale_relu__temporaries.py").read_text()
KEY = "sk-a-key-that-no-record-may-hold"


def vote(**yes):
    """Returns a verifier's answer."""
    questions = ("torch_work", "hard_coded", "trivial_kernel", "missing_work")
    return "I see.\n" + json.dumps({**{each: yes.get(each, False) for each in questions}, "reason": "line 9 adds nothing"})


class Server(http.server.ThreadingHTTPServer):
    """Answers with KERNEL, and with a fault to the requests whose numbers are in `faults`. The requests whose numbers are
    `silent` get their answer when `ends_silence` is set."""

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
        self.silent, self.ends_silence = set(), threading.Event()
        self.kernel, self.vote, self.ptx = KERNEL, vote(), ""
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
            number = len(self.server.bodies)
            fault = self.server.faults.get(number)
            self.server.bodies.append(body)
        if fault:
            return self.send(*fault)
        if number in self.server.silent:
            self.server.ends_silence.wait(60)
        answer = f"Here it is.\n```python\n{self.server.kernel}\n```\n"
        if "Answer each question" in body["messages"][-1]["content"]:
            answer = self.server.vote
        if "edit the PTX of" in body["messages"][-1]["content"]:
            answer = f"Here it is.\n```ptx\n{self.server.ptx}```\n"
        events = [{"choices": [{"delta": {"reasoning_content": "I think."}}]},
                  {"choices": [{"delta": {"content": answer[:40]}}]},
                  {"choices": [{"delta": {"content": answer[40:]}, "finish_reason": "stop"}]},
                  {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 50}}]
        self.send(200, "text/event-stream",
                  b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in events) + b"data: [DONE]\n\n")


class ModelServerTest(unittest.TestCase):
    """Tests that have the server, and run the program with it."""

    binary = None

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.server = Server(cls.folder)
        # To start a judge takes seconds. A test whose subject is something else judges by this service: *self.gym.
        cls.service = subprocess.Popen([cls.binary, "gym", "serve", "--listen", "127.0.0.1:0", "--dir", cls.folder / "gym"],
                                       stderr=subprocess.PIPE, text=True)
        port = next(found[1] for line in cls.service.stderr if (found := re.search(r"serving on [^ ]*:(\d+)", line)))
        cls.gym = "--gym", f"http://127.0.0.1:{port}"
        threading.Thread(target=cls.service.stderr.read, daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.service.terminate()
        cls.service.wait(60)
        cls.service.stderr.close()
        cls.server.shutdown()
        cls.server.server_close()
        cls.temporary.cleanup()

    def setUp(self):
        self.server.bodies.clear()
        self.server.faults = {}
        self.server.silent = set()
        self.server.ends_silence.clear()
        self.server.kernel, self.server.vote = KERNEL, vote()

    def call(self, words, trust=True):
        trusted = ["--api", f"ca_file={self.server.certificate}"] if trust else []
        return [self.binary, *map(str, words), "--base-url", self.server.url, *trusted]

    def run_program(self, *words, key=KEY, trust=True):
        return subprocess.run(self.call(words, trust), capture_output=True, text=True, timeout=300,
                              env={**os.environ, "OPENAI_API_KEY": key})

    def refused(self, done, *needles, code=2):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for needle in needles:
            self.assertIn(needle, done.stderr)
