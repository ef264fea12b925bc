#!/usr/bin/env python3
"""Tests `tasks distil` and `tasks curate` from outside, with a teacher behind a server and the real judge.

The teacher is this script: its first answer to each task is wrong, and its second one right.

usage: distil_test.py PATH_OF_TRITONSMITH
"""
import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

BINARY = sys.argv.pop(1)
TESTS = pathlib.Path(__file__).resolve().parent
TASK = (TESTS / "tasks/scale_relu.py").read_text()
KERNEL = (TESTS / "honest/files/scale_relu__temporaries.py").read_text()
WRONG = KERNEL.replace("tl.load(x", "0.5 + tl.load(x", 1)


class Teacher(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked, self.lock, self.answers = [], threading.Lock(), 1 << 30
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def reply(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply({"object": "list", "data": [{"id": "teacher"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.asked.append(body)
            is_silent = len(self.server.asked) > self.server.answers
        if is_silent:
            self.rfile.read(1)  # until the client is killed
            return
        code = KERNEL if len(body["messages"]) > 1 else WRONG
        message = {"role": "assistant", "content": f"<answer>\n```python\n{code}```\n</answer>", "reasoning_content": "I think."}
        self.reply({"model": "teacher", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 50}})


class Distillation(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        self.teacher = Teacher()
        self.addCleanup(self.teacher.server_close)
        self.addCleanup(self.teacher.shutdown)
        suite = self.folder / "suite"
        suite.mkdir()
        for i in range(3):
            (suite / f"task{i}.py").write_text(TASK + f"\n# {i}\n")
        self.words = ["tasks", "distil", "--suite", suite, "--model", "openai:teacher", "--base-url",
                      f"http://127.0.0.1:{self.teacher.server_port}/v1", "--api", "stream=false", "--api", "prices.output=1000000",
                      "--turns", "3", "--out", self.folder / "run", "--backend", "evaluate"]

    def run_program(self, *words, code=0):
        done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def records(self):
        return [json.loads(line) for line in (self.folder / "run/samples.jsonl").read_text().splitlines()]

    def test_a_killed_distillation_goes_on_and_becomes_sets(self):
        self.teacher.answers = 4
        process = subprocess.Popen([BINARY, *map(str, self.words)], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        samples = self.folder / "run/samples.jsonl"
        while not samples.exists() or samples.read_text().count("\n") < 4:
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGKILL)
        process.wait()
        answered = [json.dumps(body["messages"]) for body in self.teacher.asked[:4]]
        self.teacher.answers = 1 << 30
        asked_before = len(self.teacher.asked)
        done = self.run_program(*self.words)
        self.assertIn("3 conversations, 6 turns: 3 accepted, 3 of them repaired", done.stdout)
        later = [json.dumps(body["messages"]) for body in self.teacher.asked[asked_before:]]
        self.assertEqual(set(answered) & set(later), set())  # nothing is asked twice
        self.assertEqual(len(later), 2)
        self.assertEqual(len(self.records()), 6)
        done = self.run_program(*self.words)
        self.assertIn("3 conversations, 6 turns", done.stdout)
        self.assertEqual(len(self.teacher.asked), asked_before + 2)
        self.curate()

    def curate(self):
        run = self.folder / "run"
        done = self.run_program("tasks", "curate", run, "--out", self.folder / "all.jsonl", "--by-plan", "--set", "reasoning=join")
        self.assertIn("3 examples", done.stdout)
        example = json.loads((self.folder / "all.jsonl").read_text().splitlines()[0])
        self.assertTrue(example["completion"].startswith("<thinking>\nI think.\n</thinking>\n<answer>"))
        report = (self.folder / "all.jsonl.report.md").read_text()
        self.assertIn("| judged | 6 | 3 | 100.0 % | 300 | 50.0000 |", report)
        self.assertIn("wrong_value 3", report)
        self.assertIn("(answers of openai:teacher)", report)
        self.assertEqual(example["origin"]["dataset"], "suite")
        self.assertIn("<svg", (self.folder / "all.jsonl.funnel.svg").read_text())
        # A run of `sft` reads what was made.
        self.run_program("model", "make", "--examples", self.folder / "all.jsonl", "--out", self.folder / "model")

        self.run_program("tasks", "curate", run, "--want", "repairs", "--layout", "messages", "--out", self.folder / "repairs.jsonl")
        row = json.loads((self.folder / "repairs.jsonl").read_text().splitlines()[0])
        self.assertEqual([message["role"] for message in row["messages"]], ["user", "assistant", "user", "assistant"])
        self.run_program("tasks", "curate", run, "--want", "preferences", "--layout", "preference",
                         "--out", self.folder / "preferences.jsonl")
        row = json.loads((self.folder / "preferences.jsonl").read_text().splitlines()[0])
        self.assertIn("0.5 + tl.load", row["rejected"][0]["content"])

        # The tasks of a measuring suite are left out, whatever their sizes are.
        bench = self.folder / "bench"
        bench.mkdir()
        (bench / "1_ScaleReLU.py").write_text(TASK.replace("32, 100", "64, 50"))
        done = self.run_program("tasks", "curate", run, "--away-from", bench, "--out", self.folder / "none.jsonl", code=2)
        self.assertIn("no answer is left", done.stderr)
        self.assertFalse((self.folder / "none.jsonl").exists())
        done = self.run_program("tasks", "curate", bench, "--out", self.folder / "none.jsonl", code=2)
        self.assertIn("holds neither", done.stderr)


if __name__ == "__main__":
    unittest.main()
