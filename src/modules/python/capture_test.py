"""Tests what a capture records of scripts, each of which runs in a Python of its own."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))

NET = """
import argparse
import dataclasses
from functools import partial
import torch
from torch import nn
import torch.nn.functional as F

@dataclasses.dataclass
class Config:
    width: int = 8
    act: type = nn.GELU

class Plain:
    def __init__(self, width, eps=1e-5):
        self.width, self.eps = width, eps

class Odd:
    def __init__(self, width):
        self._width = width

class Norm(nn.Module):
    def __init__(self, config, norm=None, act=F.gelu, make=nn.Linear):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(8))

    def forward(self, x, mask=None, *, scale=1.0):
        return x * self.weight * scale

class Outer(nn.Module):
    def __init__(self, inner, n):
        super().__init__()
        import copy
        self.inner = nn.ModuleList(copy.deepcopy(inner) for _ in range(n))

    def forward(self, x):
        for each in self.inner:
            x = each(x, scale=2.0)
        return x
"""


class CaptureTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.helper = os.path.join(cls.temporary.name, "helper")
        cls.folder = os.path.join(cls.temporary.name, "work")
        package = os.path.join(cls.helper, "tritonsmith_modules")
        shutil.copytree(os.path.join(HERE, "tritonsmith_modules"), package)
        shutil.move(os.path.join(package, "sitecustomize.py"), cls.helper)
        os.makedirs(os.path.join(cls.folder, "pkg"))
        cls.write("net.py", NET)
        cls.write("pkg/__init__.py", "")

    @classmethod
    def write(cls, name, text):
        with open(os.path.join(cls.folder, name), "w") as file:
            file.write(text)

    def records(self, script, *words, command=(), code=0, **environment):
        """Runs a script and returns its records by the class's name, and what the script wrote."""
        self.write("script.py", script)
        results = tempfile.mkdtemp(dir=self.temporary.name)
        own = {"PYTHONPATH": os.pathsep.join([self.helper, self.folder]), "TRITONSMITH_CAPTURE": results,
               "TRITONSMITH_CAPTURE_FOLDER": self.folder, "TORCHDYNAMO_DISABLE": "1"}
        done = subprocess.run([sys.executable, *(command or ("script.py",)), *words], capture_output=True, text=True, timeout=120,
                              cwd=self.folder, env={**os.environ, **own, **environment})
        self.assertEqual(done.returncode, code, done.stderr)
        self.output = done
        found = {}
        for name in glob.glob(os.path.join(results, "*.json")):
            with open(name) as file:
                for record in json.load(file):
                    found.setdefault(record["name"], []).append(record)
        return found

    def test_nested_modules_keywords_and_shapes(self):
        found = self.records("""
import torch
from net import Config, Norm, Outer
model = Outer(Norm(Config(width=8)), n=2)
for rows in (4, 4, 6):
    model(torch.randn(rows, 8))
Norm(Config())(x=torch.ones(2, 8), mask=None)
print("done")
""")
        self.assertEqual(self.output.stdout, "done\n")
        outer, = found["Outer"]
        self.assertEqual((outer["target"], outer["init"], outer["calls"], outer["instances"]),
                         ("net.py:Outer", "Norm(Config(width=8, act=nn.GELU)), n=2", 3, 1))
        self.assertEqual([each["calls"] for each in outer["inputs"]], [2, 1])
        norm, other = found["Norm"]
        self.assertEqual((norm["init"], norm["instances"], norm["calls"]), ("Config(width=8, act=nn.GELU)", 2, 6))
        self.assertTrue(all(each["text"].endswith(", scale=2.0") for each in norm["inputs"]), norm)
        self.assertEqual((norm["given"], other["given"]), (["scale", "self", "x"], ["mask", "self", "x"]))
        self.assertEqual(other["inputs"][0]["text"], "x=torch.full((2, 8), 1.0), mask=None")

    def test_constructor_arguments_become_text(self):
        found = self.records("""
import torch, argparse
from functools import partial
from torch import nn
import net
x = torch.randn(4, 8)
for config, options in [(net.Plain(3), {}), (argparse.Namespace(width=8, log=print, file=open("net.py")), {}),
                        (1, {"norm": nn.LayerNorm(8)}), ([1, (2,)], {"act": torch.relu}),
                        ({"a": float("inf")}, {"make": partial(nn.Linear, bias=False)}),
                        (net.Odd(3), {}), (1, {"act": lambda x: x})]:
    net.Norm(config, **options)(x)
""")
        inits = [(each["init"], each["init_problem"]) for each in found["Norm"]]
        self.assertEqual(inits, [
            ("Plain(width=3, eps=1e-05)", ""), ("argparse.Namespace(width=8, log=print)", ""), ("1, norm=nn.LayerNorm(8)", ""),
            ("[1, (2,)], act=torch.relu", ""), ("{'a': float('inf')}, make=partial(nn.Linear, bias=False)", ""),
            ("", "`config` is a Odd, which cannot be written as text"), ("", "`act` is a lambda, which has no name")])

    def test_weights_in_another_type_and_autocast(self):
        found = self.records("""
import torch
from net import Norm
Norm(1).bfloat16()(torch.randn(4, 8, dtype=torch.bfloat16))
with torch.autocast("cpu", dtype=torch.bfloat16):
    Norm(2)(torch.randn(4, 8))
""")
        first, second = found["Norm"]
        self.assertEqual((first["dtype"], first["inputs"][0]["note"]), ("bf16", ""))
        self.assertEqual((second["dtype"], second["inputs"][0]["note"]), ("", "called under autocast to torch.bfloat16"))
        self.assertEqual(second["inputs"][0]["autocast"], "bf16")
        self.assertNotIn("bfloat16", second["inputs"][0]["text"])
        self.assertIn("bfloat16", second["inputs"][0]["autocast_text"])

    def test_named_functions_whoever_imports_them(self):
        self.write("pkg/ops.py", """
import functools
import torch

def logged(function):
    @functools.wraps(function)
    def wrapper(*positional, **keywords):
        return function(*positional, **keywords)
    return wrapper

def rms_norm(x, weight=None, *, eps=1e-6, residual=None):
    return x if weight is None else x * weight

@logged
def swiglu(gate, up, *more, limit=None):
    def rms_norm(x):  # another function of this name
        return x
    return rms_norm(gate) * up
""")
        script = """
import torch
from pkg.ops import rms_norm, swiglu as act
import pkg.ops
for rows in (4, 4, 8):
    x = torch.randn(rows, 16)
    rms_norm(x, weight=torch.ones(16), eps=1e-5, residual=None)
pkg.ops.rms_norm(x)
act(x, up=x)
act(x, x, x, limit=3)
def local(x):
    return x
local(x)
print("done")
"""
        found = self.records(script, TRITONSMITH_CAPTURE_NAMES="pkg:rms_norm swiglu local Norm")
        self.assertEqual(self.output.stdout, "done\n")
        norm, plain = found["rms_norm"]
        self.assertEqual((norm["target"], norm["calls"], norm["instances"], norm["init_problem"]), ("pkg/ops.py:rms_norm", 3, 0, ""))
        self.assertEqual([each["calls"] for each in norm["inputs"]], [2, 1])
        self.assertRegex(norm["inputs"][0]["text"], r"^torch.randn\(\(4, 16\)\).*, torch.*\(\(16,\).*, eps=1e-05$")
        self.assertEqual((norm["given"], plain["given"]), (["eps", "weight", "x"], ["x"]))
        self.assertEqual([each["given"] for each in found["swiglu"]], [["gate", "up"], ["*more", "gate", "limit", "up"]])
        self.assertEqual(found["local"][0]["target"], "script.py:local")
        self.assertEqual(self.records(script), {}, "functions are recorded where they are named")

    def test_a_script_that_fails_keeps_what_it_called_before(self):
        found = self.records("import torch, net\nnet.Norm(1)(torch.randn(4, 8))\nraise SystemExit(7)", code=7)
        self.assertEqual(found["Norm"][0]["calls"], 1)
        found = self.records("import torch, net, os\nnet.Norm(1)(torch.randn(4, 8))\nos._exit(0)")
        self.assertEqual(found["Norm"][0]["calls"], 1)
        found = self.records("import torch, net\nnet.Norm(1)(torch.randn(4, 8), wrong=1)", code=1)
        self.assertIn("TypeError", self.output.stderr)

    def test_arguments_packages_and_tests(self):
        self.records("import argparse\np = argparse.ArgumentParser()\np.add_argument('--rows', type=int)\n"
                     "rows = p.parse_args().rows\nimport torch, net\nnet.Norm(1)(torch.randn(rows, 8))", "--rows", "5")
        self.write("pkg/__main__.py", "import torch\nfrom torch import nn\nclass Own(nn.Module):\n    def forward(self, x):\n"
                                      "        return x\nOwn()(torch.ones(3))\n")
        found = self.records("", command=("-m", "pkg"))
        self.assertEqual(found["Own"][0]["target"], "pkg/__main__.py:Own")
        self.write("test_net.py", "import unittest, torch, net\nclass Test(unittest.TestCase):\n    def test_norm(self):\n"
                                  "        net.Norm(1)(torch.ones(3, 8))\n")
        found = self.records("", command=("-m", "unittest", "-q", "test_net"))
        self.assertEqual(found["Norm"][0]["calls"], 1)

    def test_modules_that_no_constructor_made(self):
        found = self.records("""
import copy, torch, net
module = net.Norm(1)
copy.deepcopy(module)(torch.ones(3, 8))
torch.save(module, "module.pt")
torch.load("module.pt", weights_only=False)(torch.ones(3, 8))
def local():
    class Local(torch.nn.Module):
        def forward(self, x):
            return x
    return Local()
local()(1)
""")
        copied, loaded = found["Norm"]
        self.assertEqual((copied["init"], copied["init_problem"]), ("1", ""))
        self.assertEqual(loaded["init_problem"], "its constructor was not seen")
        self.assertEqual(found["Local"][0]["target"], "")
        self.assertIn("defined within a function", found["Local"][0]["why_no_task"])
        plain = subprocess.run([sys.executable, "-c", "import torch; torch.load('module.pt', weights_only=False)"],
                               cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(plain.returncode, 0, "a saved module needs nothing of ours: " + plain.stderr)

    def test_the_users_own_start_of_python_still_runs(self):
        self.write("sitecustomize.py", "print('own start')\n")
        self.addCleanup(os.remove, os.path.join(self.folder, "sitecustomize.py"))
        found = self.records("import sys, torch, net\nnet.Norm(1)(torch.ones(3, 8))\nprint('sitecustomize' in sys.modules)")
        self.assertEqual(self.output.stdout, "own start\nTrue\n")
        self.assertEqual(len(found["Norm"]), 1)

    def test_many_shapes_are_counted(self):
        found = self.records("import torch, net\nm = net.Norm(1)\nfor n in range(40):\n    m(torch.ones(n + 1, 8))")
        norm, = found["Norm"]
        self.assertEqual((len(norm["inputs"]), norm["more"], norm["calls"]), (16, 24, 40))


if __name__ == "__main__":
    unittest.main()
