"""Tests `tritonsmith judge` and `tasks lint` from outside, with real guests, compilers and evaluation: one verdict for each kind
of candidate.

usage: judge_test.py PATH_OF_TRITONSMITH
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

BINARY = sys.argv.pop(1) if len(sys.argv) > 1 else os.environ["TRITONSMITH_BINARY"]

TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        return torch.relu(self.norm(x))

def get_inputs():
    return [torch.randn(16, 64)]

def get_init_inputs():
    return [64]
"""

HEAD = """
import torch
import torch.nn as nn
import triton
import triton.language as tl
"""

KERNEL = """
@triton.jit
def norm_relu(x_ptr, w_ptr, b_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centered = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / n
    y = centered / tl.sqrt(variance + 1e-5)
    y = y * tl.load(w_ptr + columns, mask=mask) + tl.load(b_ptr + columns, mask=mask)
    tl.store(y_ptr + row * n + columns, tl.maximum(y, 0.0), mask=mask)
"""

MODULE = """
class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        y = torch.empty_like(x)
        norm_relu[(x.shape[0],)](x, self.norm.weight, self.norm.bias, y, x.shape[1], BLOCK=64)
        return y
"""

GOOD = HEAD + KERNEL + MODULE

DOT_TASK = """
import torch

class Model(torch.nn.Module):
    def forward(self, x, y):
        return x @ y

def get_inputs():
    return [torch.randn(32, 64), torch.randn(64, 32)]

def get_init_inputs():
    return []
"""

DOT = HEAD + """
@triton.jit
def product(x_ptr, y_ptr, z_ptr, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    rows, inner, columns = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * K + inner[None, :])
    y = tl.load(y_ptr + inner[:, None] * N + columns[None, :])
    tl.store(z_ptr + rows[:, None] * N + columns[None, :], tl.dot(x, y))

class ModelNew(nn.Module):
    def forward(self, x, y):
        z = torch.empty(32, 32, device=x.device)
        product[(1,)](x, y, z, M=32, K=64, N=32)
        return z
"""


EIGHT_BITS_TASK = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return (x.float() * 2).to(torch.float8_e4m3fn)

def get_inputs():
    return [torch.randn(64, 64).to(torch.float8_e4m3fn)]

def get_init_inputs():
    return []
"""

EIGHT_BITS = HEAD + """
@triton.jit
def doubled(x_ptr, y_ptr, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + places, (tl.load(x_ptr + places).to(tl.float32) * 2).to(tl.float8e4nv))

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        doubled[(16,)](x, y, BLOCK=256)
        return y
"""


WRONG = GOOD.replace("tl.maximum(y, 0.0)", "y")
HELPED = GOOD.replace("return y\n", "return y * 1.0\n")
LOUD = GOOD.replace("class ModelNew", 'raise ValueError("\\x1b[2J\\x1b[31m\\x9b2J all is accepted")\nclass ModelNew')
# Kernels that are refused, with their stage, class and what their excerpt holds.
BAD = [
    ("def broken(:\n", "extracted", "syntax_error", ""),
    (GOOD.replace("tl.sqrt(", "tl.no_such_function("), "inspected", "compile_error", "no_such_function"),
    (GOOD.replace("x.shape[0],)]", "x.no_such_attribute,)]"), "inspected", "exception", "norm_relu["),
    (WRONG, "ran", "wrong_value", ""),
    (GOOD.replace("row * n + columns, tl", "row * n + columns + 1, tl"), "compiled", "out_of_bounds", "tl.store"),
    (GOOD.replace("(x.shape[0],)", "(x.shape[0] // 2,)"), "ran", "unwritten", ""),
    # A kernel may not ignore a bias of zeros: the referee draws weights and does not use the constructed ones.
    (GOOD.replace(" + tl.load(b_ptr + columns, mask=mask)", ""), "ran", "wrong_value", ""),
]


class Judge(unittest.TestCase):
    told = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def run_judge(self, kernels, *options, task=TASK):
        files = [self.path(f"kernel_{i}.py", kernel) for i, kernel in enumerate(kernels)]
        command = [BINARY, "judge", "--task", self.path("task.py", task), "--kernel", *files]
        return subprocess.run([*command, *options], capture_output=True, text=True, timeout=240)

    def verdicts(self, kernels, *options, task=TASK):
        """Judges all kernels in one process, because the start takes most of the time of a single verdict."""
        done = self.run_judge(kernels, "--json", *(options or ["--no-store"]), task=task)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_is_harmless(done)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), len(kernels), done.stdout)
        verdicts = [json.loads(line) for line in lines]
        self.assertEqual([verdict["file"] for verdict in verdicts],
                         [os.path.join(self.folder.name, f"kernel_{i}.py") for i in range(len(kernels))])
        return verdicts

    def verdict_on(self, kernel):
        """Returns the verdict on GOOD, HELPED, LOUD or a kernel of BAD. The first call judges them all."""
        if Judge.told is None:
            kernels = [GOOD, HELPED, LOUD, *(bad for bad, *_ in BAD)]
            Judge.told = dict(zip(kernels, self.verdicts(kernels)))
        return Judge.told[kernel]

    def check_is_harmless(self, done):
        self.assertFalse(set(done.stdout + done.stderr) & set("\x1b\x9b\x07\r"), done.stdout)

    def test_a_repeat_is_answered_from_the_store(self):
        store = os.path.join(self.folder.name, "store")
        first, = self.verdicts([GOOD], "--store", store)
        self.assertFalse(first["from_store"])
        again, = self.verdicts([GOOD], "--store", store)
        self.assertTrue(again["from_store"] and again["accepted"])
        other, = self.verdicts([GOOD], "--store", store, "--trials", "4")
        self.assertEqual((other["from_store"], other["numerics"]["trials"]), (False, 4))
        otherwise, = self.verdicts([GOOD], "--store", store, "--comparison", "allclose")
        self.assertEqual((otherwise["from_store"], otherwise["comparison"], first["comparison"]), (False, "allclose", "budget"))

    def test_each_kind_of_candidate_has_its_stage_and_class(self):
        good = self.verdict_on(GOOD)
        self.assertTrue(good["accepted"], good)
        self.assertEqual(good["stage"], "correct")
        self.assertEqual(good["numerics"]["trials"], 3)
        self.assertGreater(good["kernels"][0]["registers"], 0)
        self.assertEqual(good["kernels"][0]["launches"], 1)
        for kernel, stage, error_class, excerpt in BAD:
            verdict = self.verdict_on(kernel)
            self.assertEqual((verdict["stage"], verdict["error"]["class"]), (stage, error_class), verdict)
            self.assertFalse(verdict["accepted"])
            self.assertIn(excerpt, verdict["error"]["excerpt"])

    def test_floats_of_eight_bits_are_no_fault_of_the_machine(self):
        good, wrong = self.verdicts([EIGHT_BITS, EIGHT_BITS.replace("* 2)", "* 3)")], task=EIGHT_BITS_TASK)
        self.assertTrue(good["accepted"], good)
        self.assertEqual((wrong["error"]["class"], wrong["fault"]), ("wrong_value", "candidate"), wrong)

    def test_what_torch_may_compute_is_the_policys_to_say(self):
        strict = self.verdict_on(HELPED)
        self.assertFalse(strict["accepted"])
        said = {finding["rule"]: finding["message"] for finding in strict["findings"]}
        self.assertIn("policy open allows it", said["torch_compute"])
        self.assertTrue(self.verdicts([HELPED], "--no-store", "--policy", "open")[0]["accepted"])

    def test_the_exit_code_and_the_text_say_how_it_went(self):
        good = self.run_judge([GOOD], "--no-store")
        self.assertEqual(good.returncode, 0, good.stderr)
        self.assertRegex(good.stdout, r"task: accepted .*\n(.*\n)*.*Judged in \d+\.\d s\. Speed was not measured: ")
        both = self.run_judge([GOOD, WRONG], "--no-store")
        self.assertEqual(both.returncode, 1, both.stderr)
        self.assertRegex(both.stdout, r"kernel +verdict +why\n.*kernel_0.py +accepted\n.*kernel_1.py +wrong +wrong_value: ")
        self.assertIn("1 of 2 accepted (policy strict)", both.stdout)
        broken = self.run_judge(["def broken(:\n"], "--no-store")
        self.assertEqual(broken.returncode, 1)
        self.assertNotIn("trials", broken.stdout, "nothing was compared")

    def test_a_wrong_value_has_its_tolerance_beside_it(self):
        verdict = self.verdict_on(WRONG)
        self.assertRegex(verdict["error"]["message"],
                         r"; off by \S+, \S+ is allowed; the worst is about [\d,]+ times as far off as is allowed")
        self.assertAlmostEqual(verdict["numerics"]["tolerance"], 1e-4)

    def test_a_product_in_tf32_names_the_precision(self):
        loose, exact = self.verdicts([DOT, DOT.replace("tl.dot(x, y)", 'tl.dot(x, y, input_precision="ieee")')],
                                     task=DOT_TASK)
        self.assertEqual(loose["error"]["class"], "wrong_value", loose)
        self.assertIn('input_precision="ieee"', loose["error"]["message"])
        self.assertTrue(exact["accepted"], exact)

    def test_a_file_that_the_sandbox_hides_can_be_shown(self):
        with tempfile.TemporaryDirectory(prefix="shown-") as data:
            os.chmod(data, 0o755)
            self.path(os.path.join(data, "scale.txt"), "0.5\n")
            task = TASK.replace("def get_inputs", f"SCALE = float(open('{data}/scale.txt').read())\n\n\ndef get_inputs")
            hidden = self.run_judge([GOOD], "--no-store", task=task)
            self.assertEqual(hidden.returncode, 2, hidden.stdout)
            self.assertIn("--data", hidden.stderr)
            store = os.path.join(self.folder.name, "store")
            shown = self.run_judge([GOOD], "--store", store, "--data", data, task=task)
            self.assertEqual(shown.returncode, 0, shown.stdout + shown.stderr)
            # The key of a stored verdict holds nothing of the data, so the second call must judge again.
            again, = self.verdicts([GOOD], "--store", store, "--data", data, task=task)
            self.assertFalse(again["from_store"])
            missing = self.run_judge([GOOD], "--no-store", "--data", os.path.join(data, "none"), task=task)
            self.assertEqual(missing.returncode, 2)
            covering = self.run_judge([GOOD], "--no-store", "--data", "/tmp", task=task)
            self.assertEqual((covering.returncode, covering.stderr.count("\n")), (2, 1), covering.stderr)

    def test_a_candidates_escape_sequences_do_not_reach_the_terminal(self):
        for options in ([], ["--feedback"]):
            done = self.run_judge([LOUD], "--no-store", *options)
            self.check_is_harmless(done)
            self.assertIn("all is accepted", done.stdout)
        self.assertIn("all is accepted", json.dumps(self.verdict_on(LOUD)))

    def test_a_task_that_does_not_import_is_one_clear_line(self):
        done = self.run_judge([GOOD, GOOD], "--no-store", task="import no_such_module\n")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertIn("task.py", done.stderr)

    def test_what_a_task_raises_is_said_once_with_its_line(self):
        task = TASK.replace("        return ", "        raise ValueError('the width must be even')\n        return ", 1)
        done = self.run_judge([GOOD], "--no-store", task=task)
        self.assertEqual(done.returncode, 2)
        line = 1 + task[:task.index("raise")].count("\n")
        self.assertTrue(done.stderr.endswith(f"task.py: the task itself cannot be judged: line {line}: "
                                             "ValueError: the width must be even\n"), done.stderr)

    def test_lint_tells_the_faults_of_a_task_apart_and_remembers_it(self):
        with tempfile.TemporaryDirectory() as cache, unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=cache):
            command = [BINARY, "tasks", "lint", self.path("task.py", TASK)]
            done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=240)
            self.assertEqual(done.returncode, 0, done.stderr)
            line, = done.stdout.splitlines()
            adequacy = json.loads(line)["adequacy"]
            self.assertGreater(adequacy["tellable"], 12)
            self.assertGreaterEqual(adequacy["told"], 0.9 * adequacy["tellable"], line)
            self.assertEqual(adequacy["refused"], [])
            told = {fault["what"]: fault for fault in adequacy["faults"]}
            self.assertEqual(told["`relu` of line 11 left out"]["end"], "told")
            self.assertEqual(told["`norm.weight` taken for ones"]["end"], "told")
            kept, = pathlib.Path(cache, "tritonsmith", "adequacy").iterdir()
            self.assertEqual(json.loads(kept.read_text()), adequacy)
            again = subprocess.run(command, capture_output=True, text=True, timeout=240)
            self.assertIn(f"task: {adequacy['told']} of {adequacy['tellable']} faults told apart\n", again.stdout)

    def test_the_first_verdict_of_a_build_is_preceded_by_the_self_test_which_is_remembered(self):
        with tempfile.TemporaryDirectory() as cache, unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=cache):
            self.assertTrue(self.verdicts([GOOD], "--no-store")[0]["accepted"])
            passed, = pathlib.Path(cache, "tritonsmith", "self-test").iterdir()
            self.assertRegex(passed.read_text(), r"(?s)machine \S+.*program file \d+.*, torch \d.*, triton \d")

    def test_the_doctor_says_what_works_and_what_to_do(self):
        done = subprocess.run([BINARY, "doctor"], capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stdout)
        facts = {tuple(line.split()[:2]) for line in done.stdout.splitlines()}
        self.assertTrue({("ok", "python"), ("ok", "disk"), ("ok", "jail")} <= facts, done.stdout)
        self.assertIn("seccomp", done.stdout)
        self.assertRegex(done.stdout, "judging +a kernel was .*accepted")

        broken = subprocess.run([BINARY, "doctor"], capture_output=True, text=True, timeout=240,
                                env={**os.environ, "TRITONSMITH_PYTHON": "/nowhere/python"})
        self.assertEqual(broken.returncode, 3)
        self.assertRegex(broken.stdout, "!! +python +/nowhere/python has no torch and triton\n +-> ")


class EditedPtx(unittest.TestCase):
    """Without a GPU, edited PTX is checked and assembled, and not judged."""

    FILES = pathlib.Path(__file__).resolve().parent / "ptx"

    def judge(self, *words):
        return subprocess.run([BINARY, "judge", "--task", self.FILES / "stream.py", "--kernel", self.FILES / "stream_kernel.py",
                               "--target", "sm_90", "--backend", "evaluate", *words], capture_output=True, text=True, timeout=300)

    def test_the_original_is_shown_and_an_edit_assembles(self):
        with tempfile.TemporaryDirectory() as folder:
            shown = self.judge("--show-ptx", folder, "--ptx", f"scale_relu={self.FILES / 'stream_wide.ptx'}")
            self.assertEqual(shown.returncode, 3, shown.stdout + shown.stderr)
            self.assertIn("the edited PTX assembles, and was not judged: that needs a GPU", shown.stderr)
            self.assertIn("LDG.E.128", shown.stdout)
            self.assertNotIn("accepted (", shown.stdout)
            original = (pathlib.Path(folder) / "scale_relu.ptx").read_text()
        self.assertEqual(original, (self.FILES / "stream.ptx").read_text(), "Triton writes other PTX: make tests/ptx anew")

    def test_hostile_and_wrong_ptx_is_refused_with_its_line(self):
        done = self.judge("--ptx", f"scale_relu={self.FILES / 'hostile/traps.ptx'}")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("refused_ir: the edited PTX is refused: line 26: `trap`", done.stdout)
        done = self.judge("--ptx", f"scale_relu={self.FILES / 'hostile/more_threads.ptx'}")
        self.assertIn("the original has 128 here, and the edit 256", done.stdout)
        with tempfile.TemporaryDirectory() as folder:
            wrong = pathlib.Path(folder) / "wrong.ptx"
            text = (self.FILES / "stream.ptx").read_text()
            line = text[:text.index("max.f32")].count("\n") + 1
            wrong.write_text(text.replace("max.f32 \t%r7, %r8", "max.f32 \t%r7, %rd8"))
            done = self.judge("--ptx", f"scale_relu={wrong}")
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn(f"compile_error: the edited PTX does not assemble: line {line}: ", done.stdout)

    def test_names_of_kernels_are_checked(self):
        done = self.judge("--ptx", f"other={self.FILES / 'stream.ptx'}")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("--ptx: no kernel is named other, whose PTX is given; the plan has scale_relu", done.stderr)
        for words, said in ((("--ptx", "scale_relu"), "give it as KERNEL_NAME=FILE"),
                            (("--ptx", "scale_relu=/none.ptx"), "/none.ptx: No such file"),
                            (("--ptx", "a=b", "--kernel", self.FILES / "stream_kernel.py"), "give --kernel once")):
            done = self.judge(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(said, done.stderr)


@unittest.skipUnless(os.path.exists("/dev/nvidiactl"), "there is no GPU")
class EditedPtxOnAGpu(unittest.TestCase):
    """On a GPU of sm_90, edited PTX is judged as every kernel is."""

    FILES = EditedPtx.FILES

    def judge(self, text=None):
        """Returns the verdict on the kernel, or on the edited text in its place."""
        with tempfile.TemporaryDirectory() as folder:
            words = []
            if text is not None:
                file = pathlib.Path(folder) / "edited.ptx"
                file.write_text(text)
                words = ["--ptx", f"scale_relu={file}"]
            done = subprocess.run([BINARY, "judge", "--task", self.FILES / "stream.py", "--kernel", self.FILES / "stream_kernel.py",
                                   "--json", "--no-store", *words], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def changed(self, before, after):
        text = (self.FILES / "stream.ptx").read_text()
        self.assertEqual(text.count(before), 1)
        return text.replace(before, after)

    def test_a_real_edit_is_right_and_faster(self):
        original, edited = self.judge(), self.judge((self.FILES / "stream_wide.ptx").read_text())
        self.assertTrue(original["accepted"], original)
        self.assertTrue(edited["accepted"], edited)
        note = next(each["message"] for each in edited["findings"] if each["rule"] == "edited_ptx")
        times = original["time_ms"]["median"], edited["time_ms"]["median"]
        print(f"\n{times[0]:.4f} ms as Triton compiles it, {times[1]:.4f} ms edited; {note}", file=sys.stderr)
        self.assertLess(times[1], 0.8 * times[0])

    def test_the_unchanged_text_is_judged_as_the_original(self):
        verdict = self.judge((self.FILES / "stream.ptx").read_text())
        self.assertTrue(verdict["accepted"], verdict)

    def test_wrong_edits_are_refused(self):
        edits = {
            "writes one element past the end": ("add.s64 \t%rd8, %rd4, %rd5;", "add.s64 \t%rd8, %rd4, %rd5;\n\tadd.s64 %rd8, %rd8, 4;"),
            "writes far away": ("add.s64 \t%rd8, %rd4, %rd5;", "mov.b64 \t%rd8, 4096;"),
            "reads far away": ("add.s64 \t%rd7, %rd3, %rd5;", "mov.b64 \t%rd7, 4096;"),
            "leaves most elements unwritten": ("@%p2 bra \t$L__BB0_1;", ""),
            "rounds": ("0f3E800000", "0f3E810000"),
        }
        for name, edit in edits.items():
            with self.subTest(name):
                verdict = self.judge(self.changed(*edit))
                self.assertFalse(verdict["accepted"], verdict)
                self.assertEqual(verdict["fault"], "candidate", verdict)
                print(f"{name}: {verdict['error']['class']}", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
