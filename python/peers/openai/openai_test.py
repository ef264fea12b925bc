"""Drives `tritonsmith serve` with OpenAI's own Python package, over a tiny model of random weights."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import unittest
import urllib.request

import openai

BINARY = os.environ["TRITONSMITH_BINARY"]
ROOT = pathlib.Path(__file__).resolve().parents[3]
HELLO = [{"role": "user", "content": "hello"}]
MODULE = (ROOT / "tests/tasks/scale_relu.py").read_text()


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
        cls.process = subprocess.Popen(
            [BINARY, "serve", "--model", folder / "tiny", "--listen", "127.0.0.1:0", "--dir", folder / "serve", "--device",
             "cpu", "--serve-token-file", folder / "key"], stderr=subprocess.PIPE, text=True)
        for line in cls.process.stderr:
            if found := re.search(r"at (http://[^ ]*/v1)", line):
                break
        cls.reader = threading.Thread(target=cls.process.stderr.read, daemon=True)
        cls.reader.start()
        cls.url = found[1]
        cls.client = openai.OpenAI(base_url=cls.url, api_key="a-key-of-this-test", max_retries=0)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.process.terminate()
        cls.process.wait(60)
        cls.reader.join()
        cls.process.stderr.close()
        cls.temporary.cleanup()

    def chat(self, **settings):
        return self.client.chat.completions.create(**{"model": "tiny", "messages": HELLO, "max_tokens": 8, **settings})

    def test_lists_the_models(self):
        self.assertEqual([model.id for model in self.client.models.list()], ["tiny", "tiny-verified"])

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
        done = self.client.completions.create(model="tiny", prompt=["def f(", [1, 2, 3]], max_tokens=5, logprobs=1)
        self.assertEqual([len(each.logprobs.token_logprobs) for each in done.choices], [5, 5])

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

    def test_a_client_that_leaves_frees_the_model(self):
        with self.chat(stream=True, max_tokens=1500) as stream:
            next(iter(stream))
        request = urllib.request.Request(self.url.removesuffix("/v1") + "/metrics",
                                         headers={"Authorization": "Bearer a-key-of-this-test"})
        for _ in range(1000):
            with urllib.request.urlopen(request, timeout=60) as reply:
                if "requests_cancelled_total 1" in reply.read().decode():
                    return
        self.fail("the request goes on without its client")

    def test_the_verified_model_returns_no_kernel_that_the_judge_refused(self):
        reply = self.chat(model="tiny-verified", messages=[{"role": "user", "content": f"```python\n{MODULE}```"}],
                          extra_body={"tritonsmith": {"conversations": 2, "turns": 1}})
        message = reply.choices[0].message
        self.assertEqual(message.content, "No kernel was verified in 2 attempts.")
        self.assertIn("Attempt 2, turn 1.", message.reasoning_content)
        self.assertEqual((reply.tritonsmith["accepted"], reply.tritonsmith["verdict"]), (0, None))


if __name__ == "__main__":
    unittest.main()
