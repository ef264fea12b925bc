"""What the tests of `tritonsmith serve` need: the model behind the server, the running server, the browser, and the records of a run.

The program that imports this module is called with the path of tritonsmith.
"""
import contextlib
import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

import chromium

BINARY = sys.argv.pop(1)
TESTS = pathlib.Path(__file__).resolve().parent
MODULE = (TESTS / "tasks/scale_relu.py").read_text()
RIGHT = (TESTS / "honest/files/scale_relu__temporaries.py").read_text()
WRONG = (TESTS / "hostile/files/i02_no_mask.py").read_text()


def write_run(folder):
    """Writes the records of a small run: curves, an evaluation, and one conversation with a wrong and a right kernel."""
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("run.seed = 1\n")
    steps = [{"schema": 1, "step": i + 1, "phase": "rl", "reward/mean": 1 - 1 / (i + 1), "stage/accepted": i / 20, "loss": 2 / (i + 1),
              "seconds/step": 3.5} for i in range(20)]
    (folder / "steps.jsonl").write_text("".join(json.dumps(each) + "\n" for each in steps))
    (folder / "task.py").write_text(MODULE)
    for name, kernel in (("wrong", WRONG), ("right", RIGHT)):
        (folder / f"{name}.py").write_text(kernel)
    done = subprocess.run([BINARY, "judge", "--task", folder / "task.py", "--kernel", folder / "wrong.py", folder / "right.py",
                           "--json", "--no-store"], capture_output=True, text=True, timeout=240)
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    samples, asked = [], "Write a kernel for scale_relu <img src=x onerror=document.title='hacked'>"
    for step in range(1, 61):
        prompt = asked
        for turn, (kernel, verdict) in enumerate(zip((WRONG, RIGHT), verdicts)):
            samples.append({"schema": 1, "step": step, "group": 0, "member": 0, "turn": turn, "task": f"scale_relu_{step % 3}",
                            "prompt": prompt, "kernel": kernel, "verdict": verdict, "advantage": 0.5,
                            "completion": {"text": f"I try this:\n```python\n{kernel}\n```", "finish": "stop",
                                           "prompt_tokens": [1], "tokens": [1, 2, 3], "logprobs": [0, 0, 0]},
                            "reward": {"total": float(turn), "terms": [{"name": "correct", "value": turn, "weight": 1.0}]}})
            prompt += "\nThe kernel is wrong. Write it again."
    (folder / "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in samples))


class Model(http.server.BaseHTTPRequestHandler):
    gate = None  # a semaphore, while a test decides how many answers the model gives

    def log_message(self, *_):
        pass

    def send(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.send({"data": [{"id": "scripted"}, {"id": "other"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        gate = Model.gate
        if gate is not None and not gate.acquire(timeout=100):
            return
        kernel = WRONG if body["temperature"] == 0 and len(body["messages"]) < 3 else RIGHT
        if body["model"] == "other":
            kernel = f"# by another model\n{kernel}"
        answer = f"```python\n{kernel}\n```"
        if "Do not write code yet" in body["messages"][-1]["content"]:
            answer = "<answer>\n1. Give each program one block.\n2. Load wide.\n</answer>"
        with contextlib.suppress(ConnectionError):  # the server may have been killed
            self.send({"choices": [{"message": {"content": answer}, "finish_reason": "stop"}],
                       "usage": {"prompt_tokens": 9, "completion_tokens": 7}})


class Served:
    """A running `tritonsmith serve`, without a model if there is no URL of one."""

    def __init__(self, model_url, folder, *words, port=0, names=("scripted",)):
        model = [word for name in names for word in ("--model", f"openai:{name}")] + ["--base-url", model_url] if model_url else []
        self.process = subprocess.Popen([BINARY, "serve", *model, "--listen", f"127.0.0.1:{port}", "--dir", folder, *words],
                                        stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = re.search(r"the page at (http://[^ ]*:(\d+))/", line)
            if found:
                self.url, self.port = found[1], int(found[2])
                self.reader = threading.Thread(target=self.process.stderr.read, daemon=True)
                self.reader.start()
                return
        raise AssertionError("the server did not start")

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as reply:
            return json.load(reply)

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(60)
        self.reader.join()
        self.process.stderr.close()


class ServeTest(unittest.TestCase):
    """A test with the model, a folder of its own, and a browser if Chromium is installed. SCREENSHOTS=FOLDER keeps pictures."""

    @classmethod
    def setUpClass(cls):
        cls.model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
        threading.Thread(target=cls.model.serve_forever, daemon=True).start()
        cls.model_url = f"http://127.0.0.1:{cls.model.server_port}/v1"
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.browser = chromium.Browser() if chromium.PROGRAM else None

    @classmethod
    def tearDownClass(cls):
        if cls.browser:
            cls.browser.close()
        cls.model.shutdown()
        cls.model.server_close()
        cls.temporary.cleanup()

    def let_the_model_answer(self, times):
        """The model gives so many answers, and further ones as the returned semaphore is released, until the test ends."""
        Model.gate = threading.Semaphore(times)
        self.addCleanup(setattr, Model, "gate", None)
        return Model.gate

    def page(self, *size):
        if self.browser is None:
            self.skipTest("no Chromium is installed")
        return self.browser.page(*size)

    def keep(self, page, name):
        """Keeps pictures of the page's state, light and dark, wide and narrow."""
        if "SCREENSHOTS" not in os.environ:
            return
        was_dark = page.value("matchMedia('(prefers-color-scheme: dark)').matches")
        width, height = page.size
        for size, wide in (((1280, 900), ""), ((420, 900), "-narrow")):
            page.resize(*size)
            for scheme in ("light", "dark"):
                page.prefer(scheme)
                page.screenshot(f"{os.environ['SCREENSHOTS']}/{name}{wide}-{scheme}.png")
        page.resize(width, height)
        page.prefer("dark" if was_dark else "light")
