"""`tasks pairs` from outside: modules become judged Triton solutions, hostile ones become reasons, and a killed run goes on.

usage: pairs_test.py PROGRAM
"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parent.parent
PLAIN = ["mlp", "layer_norm", "batch_norm", "conv2d", "cross_entropy", "softmax_wide"]
TWINS = """import torch


class Attention(torch.nn.Module):
    \"\"\"Two parameters of equal shape, which must not be swapped.\"\"\"

    def __init__(self, width):
        super(Attention, self).__init__()
        self.key = torch.nn.Linear(width, width)
        self.query = torch.nn.Linear(width, width)
        self.last = torch.nn.Sequential(torch.nn.Linear(width, 3), torch.nn.Tanh())

    def forward(self, x, factor=2.0):
        return self.last(torch.relu(self.query(x)) - torch.exp(self.key(x)) * factor), x


Model = Attention


def get_inputs():
    return [torch.rand(6, 8)]


def get_init_inputs():
    return [[], {'width': 8}]
"""
HOSTILE = """import os
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1

def get_inputs():
    open('/etc/passwd.new', 'w')
    os.kill(os.getppid(), 9)
    return [torch.rand(4)]
"""
CONVOLUTIONS = """import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.down = torch.nn.Conv2d(4, 6, (3, 2), stride=2, padding=(1, 0), dilation=(2, 1), groups=2)
        self.up = torch.nn.ConvTranspose2d(6, 3, 3, stride=2, padding=1, output_padding=1)
        self.line = torch.nn.Conv1d(3, 5, 3, padding=1, bias=False)
        self.last = torch.nn.Conv3d(1, 2, 2)

    def forward(self, x):
        x = self.line(torch.relu(self.up(torch.tanh(self.down(x)))).mean(2))
        return torch.cat([torch.relu(self.last(x[:, None, :, None].expand(-1, -1, -1, 2, -1))).sum(3).flatten(1), x.sum(2)], 1)


def get_inputs():
    return [torch.randn(2, 4, 9, 8)]


def get_init_inputs():
    return []
"""
# `fused` leaves nothing of it to a kernel but the product itself.
PRODUCT = """import warnings
import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        warnings.warn("slow")
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(20, 24), torch.randn(24, 12)]
"""
CONSTANT = "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n" \
    "        return torch.min(x.exp(), torch.tensor(1.5, device=x.device))\n\ndef get_inputs():\n    return [torch.randn(6, 5)]\n"
# It has more rows than a GPU has programs along the second axis of a grid.
TALL = "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return (x.transpose(1, 2) + 1).contiguous()\n\n" \
    "def get_inputs():\n    return [torch.rand(2100, 8, 32)]\n"
# Its steps need the same kernel at different offsets.
RECURRENT = """import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(8, 16)

    def forward(self, x, h, c):
        return self.lstm(x, (h, c))[0]


def get_inputs():
    return [torch.rand(5, 3, 8), torch.rand(1, 3, 16), torch.rand(1, 3, 16)]
"""
# A tensor that stays on the CPU, a function around layers, and numbers that the constructor reads from a tensor.
ODD = """import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.start = torch.ones(3, 8)
        self.layers = torch.nn.ModuleDict({"first": torch.nn.Linear(8, 8), "second": torch.nn.Linear(8, 4)})
        layers = self.layers
        self.mlp = lambda x: layers["second"](torch.relu(layers["first"](x)))
        self.rates = [rate.item() for rate in torch.linspace(0, 0.5, 4)]

    def forward(self, x):
        return self.mlp(x * self.rates[2] + self.start.to(x.device))


def get_inputs():
    return [torch.rand(3, 8)]
"""
LONG = """import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        return torch.cumprod(torch.sigmoid(x), 1), torch.mean((x - y) ** 2)


def get_inputs():
    return [torch.rand(12, 3000), torch.rand(12, 3000)]
"""
# One kernel serves both means. Their lengths are whole numbers in an index and floating ones below a sum.
MEANS = """import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        return x.mean(1), y.mean(1)


def get_inputs():
    return [torch.rand(4, 96, 96), torch.rand(4, 80, 80)]
"""
BRANCHES = "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x if x.sum() > 0 else -x\n\n" \
    "def get_inputs():\n    return [torch.rand(4)]\n"


class Pairs(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        self.tasks = self.folder / "tasks"
        self.tasks.mkdir()
        for name in PLAIN:
            (self.tasks / f"{name}.py").write_text((ROOT / f"tests/tasks/{name}.py").read_text())
        (self.tasks / "twins.py").write_text(TWINS)
        (self.tasks / "hostile.py").write_text(HOSTILE)
        (self.tasks / "branches.py").write_text(BRANCHES)
        self.out = self.folder / "out"
        self.command = [PROGRAM, "tasks", "pairs", str(self.tasks), "--out", str(self.out), "--backend", "evaluate"]

    def rows(self, name):
        path = self.out / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def test_modules_become_accepted_solutions_and_a_killed_run_goes_on(self):
        first = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 200
        while not self.rows("pairs.jsonl") and time.monotonic() < deadline and first.poll() is None:
            time.sleep(0.05)
        first.send_signal(signal.SIGKILL)
        first.wait()
        before = [row["task"] for row in self.rows("pairs.jsonl")]
        self.assertTrue(before)
        done = subprocess.run(self.command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        pairs = {row["task"]: row for row in self.rows("pairs.jsonl")}
        self.assertEqual(sorted(pairs), sorted([*PLAIN, "twins"]), done.stdout + str(self.rows("rejected.jsonl")))
        self.assertEqual(len(self.rows("pairs.jsonl")), len(pairs), "nothing is made twice")
        for row in pairs.values():
            self.assertTrue(row["verdict"]["accepted"])
            self.assertNotIn("_inductor", row["kernel"])
            self.assertRegex(row["kernel"], r"\n    \w+_kernel\[|        \w+_kernel\[")
            self.assertNotRegex(row["kernel"], r"\btmp\d|\bbuf\d|triton_(poi|per|red)_")
        self.assertIn("self.query.weight", pairs["twins"]["kernel"])
        failures = {row["task"]: row["reason"] for row in self.rows("failures.jsonl")}
        self.assertEqual(sorted(failures), ["branches", "hostile"])
        again = subprocess.run(self.command, capture_output=True, text=True)
        self.assertIn("9 done before", again.stdout)
        self.check_examples()

    def test_solutions_are_written_unjudged_and_judged_by_a_later_call(self):
        for each in self.tasks.iterdir():
            each.unlink()
        for name, source in (("product", PRODUCT), ("constant", CONSTANT), ("branches", BRANCHES), ("tall", TALL)):
            (self.tasks / f"{name}.py").write_text(source)
        done = subprocess.run([*self.command, "--unjudged"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 tasks: 3 solutions written, 1 without one", done.stdout)
        written = {row["task"]: row["kernel"] for row in self.rows("written.jsonl")}
        self.assertEqual(sorted(written), ["constant", "product", "tall"], str(self.rows("failures.jsonl")))
        self.assertIn("def matmul_kernel(", written["product"])
        self.assertIn("4 done before", subprocess.run([*self.command, "--unjudged"], capture_output=True, text=True).stdout)
        judged = self.folder / "judged"
        done = subprocess.run([PROGRAM, "tasks", "pairs", str(self.out / "written.jsonl"), "--given", "--out", str(judged),
                               "--backend", "evaluate"], capture_output=True, text=True)
        self.assertIn("3 tasks: 3 pairs accepted", done.stdout, done.stderr)
        pairs = [json.loads(line) for line in (judged / "pairs.jsonl").read_text().splitlines()]
        self.assertEqual(sorted(row["task"] for row in pairs), sorted(written))

    def test_strict_leaves_torch_no_product_and_no_convolution(self):
        for each in self.tasks.iterdir():
            each.unlink()
        (self.tasks / "convolutions.py").write_text(CONVOLUTIONS)
        (self.tasks / "mlp.py").write_text((ROOT / "tests/tasks/mlp.py").read_text())
        done = subprocess.run([*self.command, "--policy", "strict"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        pairs = {row["task"]: row["kernel"] for row in self.rows("pairs.jsonl")}
        self.assertEqual(sorted(pairs), ["convolutions", "mlp"], str(self.rows("rejected.jsonl") + self.rows("failures.jsonl")))
        for name in ("conv2d", "conv_transpose2d", "conv1d", "conv3d"):
            self.assertIn(f"def {name}_kernel(", pairs["convolutions"])
        self.assertIn("def matmul_kernel(", pairs["mlp"])
        self.assertNotRegex("".join(pairs.values()), r"F\.conv|torch\.(mm|addmm|bmm)|extern_kernels")

    def test_recurrences_long_sums_and_odd_constructors_become_accepted_solutions(self):
        for each in self.tasks.iterdir():
            each.unlink()
        for name, source in {"recurrent": RECURRENT, "odd": ODD, "long": LONG, "means": MEANS}.items():
            (self.tasks / f"{name}.py").write_text(source)
        done = subprocess.run(self.command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        pairs = {row["task"]: row["kernel"] for row in self.rows("pairs.jsonl")}
        self.assertEqual(sorted(pairs), ["long", "means", "odd", "recurrent"], str(self.rows("rejected.jsonl") + self.rows("failures.jsonl")))
        offsets = re.findall(r"(\w+)\[[^\n]*\n?[^\n]*offset=(\d+)", pairs["recurrent"])
        self.assertEqual(len({kernel for kernel, _ in offsets}), 1, "one kernel serves all steps but the first and the last")
        self.assertGreaterEqual(len({offset for _, offset in offsets}), 3)
        self.assertRegex(pairs["means"], r"SIZE=80\b[^\n]*FACTOR=80\.0|FACTOR=80\.0[^\n]*SIZE=80\b")
        self.assertIn("start = self.start.to(x.device)", pairs["odd"])
        self.assertNotIn("__closure__", pairs["odd"])
        self.assertIn("BLOCK_R=32", pairs["long"], "a running product takes few elements a step")
        self.assertRegex(pairs["long"], r"mean_kernel(_\d+)?\[\((?!1,)", "several programs share a long sum")

    def test_given_solutions_are_judged_and_refusals_counted(self):
        module = "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x, y):\n        return x - y\n\n" \
            "def get_inputs():\n    return [torch.rand(8, 4), torch.rand(8, 4)]\n\ndef get_init_inputs():\n    return [[], {}]\n"
        solution = "import torch\nimport triton\nimport triton.language as tl\n\n@triton.jit\ndef kernel(x, y, out, n, B: tl.constexpr):\n" \
            "    at = tl.arange(0, B)\n    tl.store(out + at, tl.load(x + at, at < n) - tl.load(y + at, at < n), at < n)\n\n" \
            "class NetNew(torch.nn.Module):\n    def forward(self, x, y):\n        out = torch.empty_like(x)\n" \
            "        kernel[(1,)](x, y, out, 32, B=32)\n        return out\n"
        rows = [{"entry_point": "Net", "python_code": module, "triton_code": solution},
                # As a solution whose tensors are bound by the first equal shape.
                {"entry_point": "Net", "python_code": module + "# again\n", "triton_code": solution.replace("(x, y, out, 32", "(x, x, out, 32")},
                {"entry_point": "Net", "python_code": module, "triton_code": solution}]
        data = self.folder / "kernelbook.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = subprocess.run([PROGRAM, "tasks", "pairs", str(data), "--given", "--out", str(self.out), "--backend", "evaluate"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 tasks: 1 pairs accepted, 1 rejected", done.stdout)
        self.assertRegex(done.stdout, r"1  wrong_value")
        (accepted,) = self.rows("pairs.jsonl")
        self.assertIn("ModelNew = NetNew", accepted["kernel"])
        self.assertIn("Model = Net", accepted["source"])

    def test_given_solutions_of_inductor_are_rewritten_before_they_are_judged(self):
        files = pathlib.Path(__file__).resolve().parent.parent / "src/pairs/python/given_files"
        head = "import torch\nimport torch.nn as nn\n\n\n"
        linear = head + "class Head(nn.Module):\n    def __init__(self, size):\n        super().__init__()\n        self.fc = nn.Linear(size, size)\n\n" \
            "    def forward(self, x):\n        return torch.softmax(torch.relu(self.fc(x)).view(16, 16), 1)\n\n\n" \
            "def get_inputs():\n    return [torch.rand([4, 4, 4, 4])]\n\n\ndef get_init_inputs():\n    return [[4], {}]\n"
        mean = head + "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.conv = nn.Conv2d(12, 8, 1)\n\n" \
            "    def forward(self, x):\n        return self.conv(x).mean((1, 2, 3))\n\n\n" \
            "def get_inputs():\n    return [torch.rand([2, 12, 6, 6])]\n\n\ndef get_init_inputs():\n    return [[], {}]\n"
        cleaned = (files / "linear_relu_softmax__cleaned_2_5.py").read_text().replace("ModelNew = HeadNew\n", "")
        raw = (files / "mean_conv__raw_2_5.py").read_text()
        rows = [{"entry_point": "Head", "python_code": linear, "triton_code": cleaned},
                {"entry_point": "Model", "python_code": mean, "triton_code": raw},
                # The rewriter does not know this grid.
                {"entry_point": "Head", "python_code": linear + "# again\n", "triton_code": cleaned.replace("grid(16)", "(2,)")},
                # It computes something else.
                {"entry_point": "Head", "python_code": linear.replace("relu", "sigmoid"), "triton_code": cleaned}]
        data = self.folder / "kernelbook.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = subprocess.run([PROGRAM, "tasks", "pairs", str(data), "--given", "--plain", "--out", str(self.out), "--backend", "evaluate"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 solutions rewritten as plain Triton, 2 of them accepted; 1 judged as they were", done.stdout)
        self.assertRegex(done.stdout, r"1  kept as given: unknown_grid")
        pairs = self.rows("pairs.jsonl")
        plain = [row for row in pairs if row["form"] == "plain"]
        self.assertEqual(len(plain), 2, done.stdout)
        for row in plain:
            self.assertNotIn("_inductor", row["kernel"])
            self.assertRegex(row["kernel"], r"_kernel\[\(triton\.cdiv\(")
        kept = [row for row in [*pairs, *self.rows("rejected.jsonl")] if row["form"] == "given"]
        self.assertEqual([row["kept_because"] for row in kept], ["unknown_grid"])
        self.assertIn("_inductor", kept[0]["kernel"])

    def test_modules_of_the_zoo_share_guests_and_get_the_solutions_that_they_get_alone(self):
        zoo, alone = "zoo:count=12,seed=7", self.folder / "alone"
        subprocess.run([PROGRAM, "tasks", "export", zoo, "--out", str(alone)], check=True, capture_output=True)
        written = []
        for modules in (zoo, str(alone)):
            out = self.folder / f"out{len(written)}"
            done = subprocess.run([PROGRAM, "tasks", "pairs", modules, "--unjudged", "--out", str(out)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = [json.loads(line) for line in (out / "written.jsonl").read_text().splitlines()]
            written.append({row["key"]: row["kernel"] for row in rows})
        self.assertGreater(len(written[0]), 8)
        self.assertEqual(written[0], written[1])

    def check_examples(self):
        examples = self.folder / "examples.jsonl"
        done = subprocess.run([PROGRAM, "examples", "import", str(self.out / "pairs.jsonl"), "--out", str(examples)],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in examples.read_text().splitlines()]
        self.assertEqual(len(rows), len(PLAIN) + 1)
        self.assertTrue(all(re.search(r"class ModelNew", row["completion"]) for row in rows))


if __name__ == "__main__":
    unittest.main()
