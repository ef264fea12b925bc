"""Drives `tritonsmith serve` with OpenAI's own Python package, over a tiny model of random weights.

A test of clients that leave has a model behind a server, which begins every answer and never ends one.
"""
import http.server
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

import openai

BINARY = os.environ["TRITONSMITH_BINARY"]
ROOT = pathlib.Path(__file__).resolve().parents[3]
HELLO = [{"role": "user", "content": "hello"}]
MODULE = (ROOT / "tests/tasks/scale_relu.py").read_text()


class EndlessModel(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def send(self, content_type, data):
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.send("application/json", b'{"data": [{"id": "endless"}]}')

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send("text/event-stream", b'data: {"choices": [{"delta": {"content": "more "}}]}\n\n')
        self.connection.recv(1)  # returns when the client closes the connection


def start_serving(model, folder, *words):
    """Returns the process of `tritonsmith serve`, the thread that reads its log, and its address."""
    process = subprocess.Popen(
        [BINARY, "serve", "--model", model, "--listen", "127.0.0.1:0", "--dir", folder / "serve", "--serve-token-file",
         folder / "key", *words], stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if found := re.search(r"at (http://[^ ]*/v1)", line):
            break
    reader = threading.Thread(target=process.stderr.read, daemon=True)
    reader.start()
    return process, reader, found[1]


def stop_serving(process, reader):
    process.terminate()
    process.wait(60)
    reader.join()
    process.stderr.close()


class OpenAiPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.temporary.name)
        for words in (["tasks", "teach", "--quickstart", "--set", "curriculum.train=20", "--out", folder / "examples.jsonl"],
                      ["model", "make", "--examples", folder / "examples.jsonl", "--out", folder / "tiny", "--set",
                       "vocabulary=300", "--set", "hidden_size=32", "--set", "num_hidden_layers=1"]):
            subprocess.run([BINARY, *words], check=True, capture_output=True, timeout=300)
        (folder / "key").write_text("a-key-of-this-test\n")
        cls.process, cls.reader, cls.url = start_serving(folder / "tiny", folder, "--device", "cpu")
        cls.client = openai.OpenAI(base_url=cls.url, api_key="a-key-of-this-test", max_retries=0)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        stop_serving(cls.process, cls.reader)
        cls.temporary.cleanup()

    def chat(self, **settings):
        return self.client.chat.completions.create(**{"model": "tiny", "messages": HELLO, "max_tokens": 8, **settings})

    def test_lists_the_models(self):
        listed = list(self.client.models.list())
        self.assertEqual([model.id for model in listed], ["tiny", "tiny-verified"])
        for model in listed:
            self.assertEqual(self.client.models.retrieve(model.id).max_model_len, model.max_model_len)
        with self.assertRaises(openai.NotFoundError):
            self.client.models.retrieve("other")

    def test_a_seed_decides_every_choice_and_the_stream_is_the_same_text(self):
        whole = self.chat(seed=3, n=2)
        self.assertEqual([each.message.content for each in whole.choices],
                         [each.message.content for each in self.chat(seed=3, n=2).choices])
        self.assertEqual((whole.usage.completion_tokens, whole.choices[0].finish_reason), (16, "length"))
        text, usage = "", None
        for part in self.chat(seed=3, stream=True, stream_options={"include_usage": True}):
            text += "".join(each.delta.content or "" for each in part.choices)
            usage = part.usage or usage
        self.assertEqual(text, whole.choices[0].message.content)
        self.assertEqual(usage.completion_tokens, 8)

    def test_logprobs_are_those_of_the_sampled_tokens(self):
        chat = self.chat(seed=3, logprobs=True).choices[0]
        self.assertEqual(len(chat.logprobs.content), 8)
        self.assertEqual(b"".join(bytes(each.bytes) for each in chat.logprobs.content).decode(errors="replace"),
                         chat.message.content)
        self.assertTrue(all(each.logprob < 0 for each in chat.logprobs.content))
        parts = [part.choices[0] for part in self.chat(seed=3, logprobs=True, stream=True) if part.choices]
        self.assertEqual([each for part in parts if part.logprobs for each in part.logprobs.content], chat.logprobs.content)
        done = self.client.completions.create(model="tiny", prompt=["def f(", [1, 2, 3]], max_tokens=5, logprobs=1)
        self.assertEqual([len(each.logprobs.token_logprobs) for each in done.choices], [5, 5])

    def test_takes_what_an_agent_sends_and_answers_in_text(self):
        tool = {"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}
        called = {"role": "assistant", "content": None, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]}
        messages = [*HELLO, called, {"role": "tool", "tool_call_id": "1", "content": "text"}]
        choice = self.chat(messages=messages, tools=[tool], tool_choice="auto", parallel_tool_calls=True, store=False,
                           metadata={"a": "b"}, user="me", reasoning_effort="low", response_format={"type": "text"},
                           seed=3).choices[0]
        self.assertTrue(choice.message.content)
        self.assertIsNone(choice.message.tool_calls)
        with self.assertRaisesRegex(openai.BadRequestError, "must be auto or none"):
            self.chat(tools=[tool], tool_choice="required")
        with self.assertRaisesRegex(openai.BadRequestError, "ask for JSON in a message"):
            self.chat(response_format={"type": "json_object"})

    def test_a_text_ends_before_its_stop_string(self):
        text = self.chat(seed=3).choices[0].message.content
        stop = text[3]
        cut = self.chat(seed=3, stop=[stop]).choices[0]
        self.assertEqual((cut.message.content, cut.finish_reason), (text[:text.index(stop)], "stop"))

    def test_refusals_have_the_packages_own_types(self):
        for error, settings in ((openai.BadRequestError, {"max_tokens": 10**6}), (openai.NotFoundError, {"model": "other"}),
                                (openai.BadRequestError, {"temperature": -1})):
            with self.assertRaises(error):
                self.chat(**settings)
        with openai.OpenAI(base_url=self.url, api_key="a-key-of-nobody", max_retries=0) as stranger:
            with self.assertRaises(openai.AuthenticationError):
                stranger.models.list()

    def test_the_verified_model_returns_no_kernel_that_the_judge_refused(self):
        reply = self.chat(model="tiny-verified", messages=[{"role": "user", "content": f"```python\n{MODULE}```"}],
                          extra_body={"tritonsmith": {"conversations": 2, "turns": 1}})
        message = reply.choices[0].message
        self.assertEqual(message.content, "No kernel was verified in 2 attempts.")
        self.assertIn("Attempt 2. ", message.reasoning_content)
        self.assertEqual((reply.tritonsmith["accepted"], reply.tritonsmith["verdict"]), (0, None))


class ClientsThatLeave(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = pathlib.Path(temporary.name)
        (folder / "key").write_text("a-key-of-this-test\n")
        model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), EndlessModel)
        self.addCleanup(model.server_close)
        self.addCleanup(model.shutdown)
        threading.Thread(target=model.serve_forever, daemon=True).start()
        process, reader, self.url = start_serving("openai:endless", folder, "--base-url",
                                                  f"http://127.0.0.1:{model.server_port}/v1")
        self.addCleanup(stop_serving, process, reader)
        self.client = openai.OpenAI(base_url=self.url, api_key="a-key-of-this-test", max_retries=0)
        self.addCleanup(self.client.close)

    def wait_for_cancelled(self, requests):
        request = urllib.request.Request(self.url.removesuffix("/v1") + "/metrics",
                                         headers={"Authorization": "Bearer a-key-of-this-test"})
        until = time.monotonic() + 100
        while time.monotonic() < until:
            with urllib.request.urlopen(request, timeout=60) as reply:
                if f"requests_cancelled_total {requests}\n" in reply.read().decode():
                    return
        self.fail("the request goes on without its client")

    def test_a_client_that_leaves_frees_the_model(self):
        call = {"model": "endless", "messages": HELLO}
        with self.client.chat.completions.create(**call, stream=True) as stream:
            next(iter(stream))
        self.wait_for_cancelled(1)
        with self.assertRaises(openai.APITimeoutError):
            self.client.chat.completions.create(**call, timeout=0.2)
        self.wait_for_cancelled(2)


if __name__ == "__main__":
    unittest.main()
