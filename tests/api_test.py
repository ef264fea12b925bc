#!/usr/bin/env python3
"""Tests `eval` and `write` with a model behind a server of OpenAI's protocol, over TLS.

The server is model_server.py. It fails in several ways before it answers with a kernel.

usage: api_test.py PATH_OF_TRITONSMITH
"""
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import unittest

import model_server
from model_server import KERNEL, KEY, TASK, TESTS

model_server.ModelServerTest.binary = sys.argv.pop(1)
HAS_GPU = os.path.exists("/dev/nvidiactl")
# A class of somebody's code, and a kernel for it.
SCALED = """
import torch
from torch import nn
from . import ops

class Scaled(nn.Module):
    def __init__(self, width, shift=0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width))
        self.shift = shift

    def forward(self, x):
        return ops.relu(x * self.weight + self.shift)

raise SystemExit("the module ran")
"""
SCALED_KERNEL = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def scaled_relu(x_ptr, w_ptr, y_ptr, shift, n, width, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(x_ptr + at, mask=at < n) * tl.load(w_ptr + at % width, mask=at < n) + shift
    tl.store(y_ptr + at, tl.maximum(y, 0.0), mask=at < n)

class ModelNew(nn.Module):
    def __init__(self, width, shift=0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.shift = shift

    def forward(self, x):
        y = torch.empty_like(x)
        scaled_relu[(triton.cdiv(x.numel(), 256),)](x, self.weight, y, self.shift, x.numel(), x.shape[-1], BLOCK=256)
        return y
"""


class RemoteModel(model_server.ModelServerTest):
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
        self.assertIn("1 request, 100 prompt tokens", done.stderr)

    def test_write_stops_at_a_module_that_cannot_be_judged(self):
        module = self.folder / "broken.py"
        module.write_text(TASK.read_text().replace("torch.relu(", "torch.relu_of("))
        done = self.run_program("write", module, "--model", "openai:big", "--samples", 20, "--set", "workers=1", "--backend", "evaluate")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("the module itself cannot be judged: ", done.stderr)
        self.assertEqual(self.server.bodies, [], "the model was asked nothing")

    def test_write_that_is_interrupted_gives_the_best_kernel(self):
        # Two are asked at once. The last case has answers without a kernel, and none to the first request.
        for silent, answer, kernel, gym in (({1}, KERNEL, KERNEL.strip(), ()), ({0, 1}, KERNEL, "", self.gym),
                                            ({0}, "print(1)", "", self.gym)):
            self.server.bodies.clear()
            self.server.silent, self.server.kernel = silent, answer
            records = self.folder / f"records-{len(silent)}-{len(answer)}"
            words = ("write", TASK, "--model", "openai:big", "--samples", 2, "--set", "workers=2", "--backend", "evaluate",
                     "--records", records, *gym)
            log = records / "search.jsonl"
            with subprocess.Popen(self.call(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "OPENAI_API_KEY": KEY}) as writing:
                while len(self.server.bodies) < 2 or len(silent) == 1 and '"judged"' not in log.read_text():
                    self.assertIsNone(writing.poll(), "it ended by itself")
                    time.sleep(0.05)
                writing.send_signal(signal.SIGINT)
                out, errors = writing.communicate(timeout=60)
            self.assertEqual((writing.returncode, out.strip()), (3, kernel), errors)
            self.assertIn("the search was stopped after ", errors)
            self.assertIn("; the same command continues it", errors)
            self.server.ends_silence.set()
            self.server.silent, self.server.kernel = set(), KERNEL
            done = self.run_program(*words)
            self.assertEqual((done.returncode, done.stdout.strip()), (0, KERNEL.strip()), done.stderr)
            self.assertIn("2 attempts were made", done.stderr)
            self.server.ends_silence.clear()

    def test_write_prepares_the_file_before_it_asks(self):
        words = ("write", TASK, "--model", "openai:big", "--samples", 1, "--backend", "evaluate", *self.gym, "--out")
        (self.folder / "a_file").write_text("")
        module = self.folder / "my_module.py"
        module.write_text(TASK.read_text())
        for out, said in ((self.folder, "is a directory; name a file"), (self.folder / "a_file/relu.py", "Not a directory")):
            self.refused(self.run_program(*words, out), said)
        overwriting = ("write", module, "--model", "openai:big")
        for files in (("--out", module), ("--patch", module), ("--out", self.folder / "../" / self.folder.name / module.name)):
            self.refused(self.run_program(*overwriting, *files), "this would overwrite the module; name another file")
        self.refused(self.run_program(*words, self.folder / "same.py", "--patch", self.folder / "same.py"), "name the same file")
        self.assertEqual(module.read_text(), TASK.read_text())
        self.assertEqual(self.server.bodies, [])
        out = self.folder / "new/folder/relu_triton.py"
        done = self.run_program(*words, out)
        self.assertEqual((done.returncode, done.stdout, out.read_text().strip()), (0, "", KERNEL.strip()), done.stderr)

    @unittest.skipIf(HAS_GPU, "there is a GPU")
    def test_without_a_gpu_no_ptx_is_edited(self):
        out = self.folder / "relu_triton.py"
        done = self.run_program("write", TASK, "--model", "openai:big", "--samples", 1, "--set", "ptx=2", "--out", out)
        self.assertEqual((done.returncode, out.read_text().strip()), (0, KERNEL.strip()), done.stderr)
        self.assertIn("; no PTX was edited: without a GPU edited PTX can be assembled, but not judged\n", done.stderr)
        self.assertEqual(len(self.server.bodies), 1)
        self.assertEqual(list(self.folder.glob("*.ptx")), [])

    @unittest.skipUnless(HAS_GPU, "there is no GPU")
    def test_on_a_gpu_the_model_edits_ptx(self):
        self.server.kernel = (TESTS / "ptx/stream_kernel.py").read_text()
        self.server.ptx = (TESTS / "ptx/stream_wide.ptx").read_text()
        out = self.folder / "stream_triton.py"
        done = self.run_program("write", TESTS / "ptx/stream.py", "--model", "openai:big", "--samples", 1, "--set", "ptx=1",
                                "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 edit of PTX was judged, and the fastest is", done.stderr)
        self.assertIn("ld.global.b32", self.server.bodies[-1]["messages"][-1]["content"])
        self.assertEqual((self.folder / "stream_triton.scale_relu.ptx").read_text(), self.server.ptx)

    def test_edits_of_ptx_need_this_programs_judge_and_a_folder(self):
        words = ("write", TASK, "--model", "openai:big", "--set", "ptx=2")
        self.refused(self.run_program(*words), "--set ptx=2", "name its file with --out")
        self.refused(self.run_program(*words, "--out", "x.py", "--gym", "http://127.0.0.1:1"), "a gym elsewhere judges no PTX")
        self.refused(self.run_program("eval", "--suite", TASK.parent, "--model", "openai:big", "--search", "beam", "--set", "ptx=2",
                                      "--out", self.folder / "none"), "only `write` edits PTX")

    def test_a_search_is_kept_and_goes_on_where_it_was(self):
        records = self.folder / "records"
        command = ("write", TASK, "--model", "openai:big", "--backend", "evaluate", "--strategy", "evolution", "--samples", 3,
                   "--set", "width=1", "--set", "branch=1", "--set", "fresh=0", "--records", records)
        done = self.run_program(*command)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, KERNEL.strip()), done.stderr)
        self.assertIn("the search ended after", done.stderr)
        self.assertIn("3 attempts were made", done.stderr)
        told = re.findall(r"^attempt (\d) of 3(, changes 1)? \([\d.]+ s\): (.*)$", done.stderr, re.MULTILINE)
        self.assertEqual([number for number, *_ in told], ["1", "2", "3"])
        self.assertEqual([parent for _, parent, _ in told], ["", ", changes 1", ", changes 1"])
        self.assertEqual(told[0][2], "accepted, the best so far")
        self.assertEqual(told[1][2], "the kernel of attempt 1 again, accepted")
        asked = [body["messages"] for body in self.server.bodies]
        self.assertEqual([len(messages) for messages in asked], [1, 3, 3])
        self.assertIn("Make one change", asked[1][-1]["content"])
        lines = (records / "search.jsonl").read_text().splitlines(keepends=True)
        events = [json.loads(line) for line in lines]
        self.assertEqual(sum("same_as" in event for event in events), 2, "equal kernels are judged once")
        command += self.gym
        for kept in (len(lines), 5, 0):  # as after a kill
            (records / "search.jsonl").write_text("".join(lines[:kept]))
            done = self.run_program(*command)
            self.assertEqual((done.returncode, done.stdout.strip()), (0, KERNEL.strip()), done.stderr)
            self.assertEqual(len(self.server.bodies), 3, "nothing is asked twice")
            self.assertEqual("3 attempts were made before" in done.stderr, kept == len(lines))
        self.refused(self.run_program(*command, "--seed", 2), "began with seed 1, not 2")
        larger = [5 if word == 3 else word for word in command]
        done = self.run_program(*larger)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, KERNEL.strip()), done.stderr)
        self.assertIn("3 attempts were made before", done.stderr)
        self.assertIn("5 attempts were made; a larger budget extends it", done.stderr)
        self.assertEqual(len(self.server.bodies), 5, "only the further attempts are asked for")
        done = self.run_program(*larger)
        self.assertEqual((done.returncode, len(self.server.bodies)), (0, 5), done.stderr)
        self.reports(records, "<figcaption>Different kernels</figcaption>", "<tr><td>2, changes 1</td><td>accepted, as attempt 1</td>",
                     "<h4>The task</h4>", "The search ended: 5 attempts were made")

    def reports(self, records, *parts):
        page = self.folder / "report.html"
        done = subprocess.run([self.binary, "report", records, "--html", page], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in parts:
            self.assertIn(part, page.read_text())

    def test_eval_compares_searches(self):
        suite, out = self.folder / "searched", self.folder / "searches"
        suite.mkdir()
        (suite / TASK.name).write_text(TASK.read_text())
        done = self.run_program("eval", "--suite", suite, "--model", "openai:big", "--out", out, "--backend", "evaluate",
                                "--search", "parallel", "--search", "branching", "--attempts", 4)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("accepted@2", done.stdout)
        found = {name: json.loads((out / name / "search.json").read_text()) for name in ("parallel", "branching")}
        self.assertEqual([at["accepted"] for at in found["parallel"]["at"]], [1, 1, 1])
        self.assertEqual([at["accepted"] for at in found["branching"]["at"]], [0, 1, 1], "the first attempt states ideas")
        self.assertEqual(found["branching"]["by_task"][0]["first_accepted"], 2)
        self.assertEqual(found["branching"]["at"][0]["judgements"], 0)
        self.assertEqual(len(self.server.bodies), 3)
        self.assertIn("branching", (out / "search.md").read_text())
        self.reports(out, "Search: parallel", "<tr><td>1, ideas in words</td><td>written</td>")
        done = self.run_program("eval", "--suite", suite, "--model", "openai:big", "--out", self.folder / "judgements", "--backend",
                                "evaluate", "--search", "branching", "--set", "judgements=1", *self.gym)
        self.assertIn("accepted@1 ", done.stdout, done.stderr)
        found = json.loads((self.folder / "judgements/branching/search.json").read_text())
        self.assertEqual((found["unit"], found["at"][0]["attempts"], found["at"][0]["accepted"]), ("judgements", 2, 1))

    def test_write_takes_a_class_of_somebodys_code_and_replaces_it(self):
        package, patch = self.folder / "package", self.folder / "patches/scaled_triton.py"
        package.mkdir()
        patch.parent.mkdir()
        (package / "ops.py").write_text("import torch\ndef relu(x):\n    return torch.relu(x)\n")
        (package / "net.py").write_text(SCALED)
        self.server.kernel = SCALED_KERNEL
        done = self.run_program("write", f"{package}/net.py:Scaled", "--inputs", "randn(32, 100)", "--inputs", "randn(7, 100)",
                                "--init", "100, shift=0.5", "--patch", patch, "--model", "openai:big", "--samples", 1,
                                "--backend", "evaluate")
        self.assertEqual((done.returncode, done.stdout.strip()), (0, SCALED_KERNEL.strip()), done.stderr)
        self.assertIn("Scaled with randn(7, 100): verified", done.stderr)
        prompt = self.server.bodies[-1]["messages"][-1]["content"]
        self.assertIn("class Model(Scaled)", prompt)
        self.assertIn("# It is also called with torch.randn(7, 100)", prompt)
        self.runs_in(patch.parent, """
            import torch, scaled_triton, scaled_triton_test as test
            test.test_replacement_of_1()
            test.test_replacement_of_2()
            model = torch.nn.Sequential(torch.nn.Sequential(test.Scaled(100, 0.5)), torch.nn.ReLU()).eval()
            before = model(torch.ones(2, 100))
            weight = model[0][0].weight
            model = scaled_triton.replace(model, test.Scaled)
            assert type(model[0][0]) is scaled_triton.ModelNew and not model[0][0].training
            torch.testing.assert_close(model(torch.ones(2, 100)), before.detach())
            weight.data.zero_()
            assert model(torch.ones(2, 100))[0, 0] == 0.5, "the replacement has the same weights, not a copy"
            """)
        test = patch.with_name("scaled_triton_test.py")
        test.write_text(test.read_text().replace("torch.relu(x)", "torch.sigmoid(x)"))
        with self.assertRaisesRegex(AssertionError, "In training mode: Tensor-likes are not close"):
            self.runs_in(patch.parent, "import scaled_triton_test as test; test.test_replacement_of_1()")

    def runs_in(self, folder, text):
        """Runs Python with Triton's interpreter in place of a GPU."""
        done = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(text)], cwd=folder, capture_output=True, text=True,
                              timeout=120, env={**os.environ, "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_write_makes_a_replacement_of_a_function(self):
        (self.folder / "ops.py").write_text("import torch\ndef act(x, *, shift=0.25):\n    return torch.relu(x * 1.5 + shift)\n")
        self.server.kernel = KERNEL.replace("def forward(self, x)", "def forward(self, x, shift)")
        words = ("write", f"{self.folder}/ops.py:act", "--inputs", "randn(32, 100), shift=0.25", "--model", "openai:big",
                 "--samples", 1, "--backend", "evaluate", *self.gym)
        done = self.run_program(*words, "--patch", self.folder / "act_triton.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.runs_in(self.folder, "import act_triton_test as test; test.test_replacement_1()")
        self.refused(self.run_program(*words, "--patch", self.folder / "act.txt"), "must end in .py")
        self.refused(self.run_program(*words, "--patch", self.folder / "act-triton.py"), "act-triton", "import")

    def test_write_makes_a_replacement_of_a_files_model(self):
        done = self.run_program("write", TASK, "--model", "openai:big", "--samples", 1, "--backend", "evaluate", *self.gym,
                                "--patch", self.folder / "model_triton.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.runs_in(self.folder, "import model_triton_test as test; test.test_replacement_of_1()")
        self.assertIn(f"Takes the place of Model of {TASK}", (self.folder / "model_triton.py").read_text())

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
