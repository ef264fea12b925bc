"""Drives our client with the server of Hugging Face's transformers, over a tiny model that our own engine also runs.

The model is of the family qwen3, because AutoTokenizer gives each qwen2 the rules of Qwen's own tokenizer.
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

BINARY = os.environ["TRITONSMITH_BINARY"]
ROOT = pathlib.Path(__file__).resolve().parents[3]
TASK = ROOT / "tests/tasks/scale_relu.py"
STEPS = 150


def run(*words, code=0):
    done = subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stderr + done.stdout
    return done


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class TransformersServe(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = folder = pathlib.Path(cls.temporary.name)
        run("tasks", "teach", "--quickstart", "--set", "curriculum.train=20", "--out", folder / "examples.jsonl")
        run("model", "make", "--examples", folder / "examples.jsonl", "--out", folder / "start", "--set", "family=qwen3",
            "--set", "vocabulary=300", "--set", "hidden_size=64", "--set", "num_hidden_layers=2")
        run("sft", ROOT / "configs/sft-small.toml", "--set", f"model.path={folder / 'start'}", "--set",
            f"data.examples={folder / 'examples.jsonl'}", "--set", "data.max_tokens=2048", "--set", f"run.dir={folder / 'sft'}",
            "--set", f"run.steps={STEPS}")
        cls.model = folder / f"sft/checkpoints/step-{STEPS}"
        cls.suite = folder / "suite"
        cls.suite.mkdir()
        (cls.suite / TASK.name).write_text(TASK.read_text())
        cls.url = f"http://127.0.0.1:{free_port()}"
        cls.log = open(folder / "server.log", "w")
        cls.server = subprocess.Popen(
            [sys.executable, "-m", "transformers.cli.transformers", "serve", cls.model, "--device", "cpu", "--dtype", "float32",
             "--host", "127.0.0.1", "--port", cls.url.rsplit(":", 1)[1]], stdout=cls.log, stderr=cls.log)
        cls.await_server()

    @classmethod
    def await_server(cls):
        for _ in range(600):
            try:
                return urllib.request.urlopen(cls.url + "/health", timeout=5).read()
            except OSError:
                assert cls.server.poll() is None, (cls.folder / "server.log").read_text()
                time.sleep(0.2)
        raise AssertionError("the server did not start")

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait(60)
        cls.log.close()
        cls.temporary.cleanup()

    def answer(self, name, *words):
        """The record of the greedy answer to the suite's one task."""
        out = self.folder / name
        run("eval", "--suite", self.suite, "--out", out, "--samples", "0", "--backend", "evaluate", "--max-tokens", "60",
            "--prompt-style", "full", *words)
        line, = (out / "samples.jsonl").read_text().splitlines()
        return json.loads(line)["completion"]

    def remote(self, name, *api):
        return self.answer(name, "--model", f"openai:{self.model}", "--base-url", self.url + "/v1",
                           *(word for each in api for word in ("--api", each)))

    def test_its_answers_are_those_of_our_own_engine(self):
        own = self.answer("own", "--model", self.model, "--device", "cpu")
        self.assertGreater(len(set(own["text"])), 4, "a text that tells something")
        for stream in ("true", "false"):
            theirs = self.remote(f"stream-{stream}", f"stream={stream}")
            self.assertEqual(theirs["text"].strip(), own["text"].strip())
            self.assertEqual(theirs["usage"]["prompt_tokens"], len(own["prompt_tokens"]))
            self.assertEqual(theirs["finish"], own["finish"])

    def test_its_other_endpoint_answers_too(self):
        theirs = self.remote("completions", "endpoint=completions")
        self.assertGreater(theirs["usage"]["completion_tokens"], 0)
        self.assertTrue(theirs["text"])

    def test_a_conversation_of_several_turns(self):
        done = run("write", TASK, "--model", f"openai:{self.model}", "--base-url", self.url + "/v1", "--samples", "1", "--turns", "2",
                   "--max-tokens", "40", "--backend", "evaluate", "--records", self.folder / "records", code=1)
        self.assertIn("2 requests", done.stderr)


if __name__ == "__main__":
    unittest.main()
