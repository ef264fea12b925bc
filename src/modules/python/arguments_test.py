"""Tests how arguments from the command line and from files of examples become a task's inputs."""

import os
import sys
import tempfile
import types
import unittest

import torch
from safetensors.torch import save_file

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from tritonsmith_modules.problem import Problem  # noqa: E402
from tritonsmith_modules.task import make_task  # noqa: E402

MODULE = """
import dataclasses
import torch
from torch import nn

WIDTH = 8

def half(x):
    return x / 2

@dataclasses.dataclass
class Config:
    width: int = WIDTH

class Block(nn.Module):
    def __init__(self, width, bias=True, act="relu"):
        super().__init__()
        self.linear = nn.Linear(width, width, bias=bias)

    def forward(self, x, mask=None, *, scale=1.0):
        y = self.linear(x) * scale
        return y if mask is None else y * mask

class Configured(Block):
    def __init__(self, config, **options):
        super().__init__(config.width, **options)

def silu(x, limit, *others, inner=None):
    return torch.sigmoid(x) * x
"""


class Arguments(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        with open(self.path("m.py"), "w") as file:
            file.write(MODULE)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def source(self, name, inputs, init="", dtype=""):
        return make_task({"target": f"m.py:{name}", "inputs": [inputs], "init": init, "dtype": dtype,
                          "folder": self.folder.name, "path": []})["sources"][0]

    def made(self, *arguments, **options):
        """Returns the task's names, the module that it constructs and its inputs."""
        sys.modules["task"] = module = types.ModuleType("task")
        space = module.__dict__
        exec(compile(self.source(*arguments, **options), "task.py", "exec", dont_inherit=True), space)
        init = space["get_init_inputs"]()
        is_pair = len(init) == 2 and isinstance(init[1], dict)
        return space, space["Model"](*init[0], **init[1]) if is_pair else space["Model"](*init), space["get_inputs"]()

    def refused(self, *arguments, **options):
        with self.assertRaises(Problem) as caught:
            self.source(*arguments, **options)
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)

    def test_names_are_the_users_then_types_then_torchs(self):
        _, model, (x,) = self.made("Block", "half(randn(4, WIDTH, dtype=bf16).float())", init="WIDTH")
        self.assertEqual((x.shape, x.dtype), ((4, 8), torch.float32))
        self.assertEqual(model(x).shape, (4, 8))
        _, _, (x, limit) = self.made("silu", "ones(int(4.5), dtype=float), float('inf')")
        self.assertEqual((x.shape[0], x.dtype, limit), (4, torch.float32, float("inf")))
        self.assertIn("did you mean `randn`?", self.refused("silu", "rand_n(4), 1"))

    def test_plain_constructor_arguments_reach_the_candidate_too(self):
        space, model, _ = self.made("Block", "randn(4, 8)", init="WIDTH, bias=False")
        self.assertEqual(space["get_init_inputs"](), [])
        space, model, _ = self.made("Block", "randn(4, 8)", init="8, bias=False, act='gelu'")
        self.assertEqual(space["get_init_inputs"](), [[8], {"bias": False, "act": "gelu"}])
        self.assertIsNone(model.linear.bias)
        space, _, _ = self.made("Configured", "randn(4, 8)", init="Config(width=8), bias=False")
        self.assertEqual(space["get_init_inputs"](), [], "no plan holds a Config")

    def test_the_type_converts_the_weights(self):
        _, model, (x,) = self.made("Block", "randn(4, 8, dtype=bf16)", init="8", dtype="bf16")
        self.assertEqual(model(x).dtype, torch.bfloat16)
        self.assertIn("no such type", self.refused("Block", "randn(4, 8)", init="8", dtype="bf17"))

    def test_keywords_become_inputs(self):
        _, _, inputs = self.made("Block", "mask=ones(8), x=ones(4, 8)", init="8")
        self.assertEqual([tuple(each.shape) for each in inputs], [(4, 8), (8,)])
        _, model, inputs = self.made("Block", "ones(4, 8), scale=0.0", init="8")
        self.assertEqual(inputs[1], 0.0)
        self.assertEqual(model(*inputs).abs().max(), 0)

    def test_several_calls_make_a_task_each_with_one_signature(self):
        question = {"target": "m.py:Block", "inputs": ["randn(4, 8), scale=2.0", "randn(half(2), WIDTH), scale=1.0"], "init": "8",
                    "dtype": "", "folder": self.folder.name, "path": []}
        first, second = make_task(question)["sources"]
        self.assertIn("    # It is also called with torch.randn(half(2), WIDTH), 1.0\n    return [torch.randn(4, 8), 2.0]", first)
        self.assertIn("    return [torch.randn(half(2), WIDTH), 1.0]", second)
        self.assertIn("def half", first)
        self.assertEqual(first.split("def get_inputs")[0], second.split("def get_inputs")[0])
        question["inputs"][1] = "randn(4, 8)"
        with self.assertRaisesRegex(Problem, "the first gives 1 argument and `scale`, number 2 1 argument$"):
            make_task(question)

    def test_arguments_that_do_not_fit_show_the_signature(self):
        self.assertIn("Block(width, bias=True, act='relu') needs `width`: give it by --init", self.refused("Block", "randn(4, 8)"))
        self.assertIn("forward(x, mask=None, *, scale=1.0) needs `x`: give it by --inputs, as in --inputs \"randn(8, 1024)\"",
                      self.refused("Block", "", init="8"))
        self.assertIn("gives `wide`, which", self.refused("Block", "randn(4, 8)", init="8, wide=1"))
        self.assertIn("gives 3 arguments", self.refused("Block", "randn(4, 8), None, 2", init="8"))
        self.assertIn("`x` twice", self.refused("Block", "randn(4, 8), x=1", init="8"))
        self.assertIn("is a function", self.refused("silu", "randn(4), 1", init="8"))
        self.assertIn("holds the arguments of a call", self.refused("silu", "randn(4"))
        self.assertIn("no list of arguments", self.refused("silu", "1), g(2"))
        self.source("silu", "randn(4), 1, 2, 3, inner=None")

    def test_example_tensors_give_shapes_types_and_ranges(self):
        torch.manual_seed(0)
        torch.save([torch.randn(64, 8, dtype=torch.float16) * 3 + 1, torch.randint(5, 90, (100,)), torch.tensor([0, 4, 9]),
                    torch.rand(2, 3, 4, 5).permute(0, 3, 1, 2), torch.ones(100, dtype=torch.bool), None, 0.5], self.path("a.pt"))
        _, _, inputs = self.made("silu", "a.pt")
        scaled, ids, offsets, permuted, flags, nothing, number = inputs
        self.assertEqual((scaled.shape, scaled.dtype), ((64, 8), torch.float16))
        self.assertTrue(0 < scaled.float().mean() < 2 and 2 < scaled.float().std() < 4)
        self.assertEqual(ids.shape, (100,))
        self.assertTrue(5 <= ids.min() and ids.max() < 90 and len(set(ids.tolist())) > 20)
        self.assertEqual(offsets.tolist(), [0, 4, 9])
        self.assertEqual((permuted.shape, permuted.stride()), ((2, 5, 3, 4), (60, 1, 20, 5)))
        self.assertTrue(permuted.min() >= 0 and flags.all())
        self.assertEqual((nothing, number), (None, 0.5))

    def test_example_tensors_bind_by_name_or_in_order(self):
        save_file({"scale": torch.rand(1), "x": torch.rand(4, 8)}, self.path("named.safetensors"))
        save_file({"first": torch.rand(4, 8), "second": torch.rand(8)}, self.path("other.safetensors"))
        _, _, inputs = self.made("Block", "named.safetensors", init="8")
        self.assertEqual([tuple(each.shape) for each in inputs], [(4, 8), (1,)])
        _, _, inputs = self.made("Block", "other.safetensors", init="8")
        self.assertEqual([tuple(each.shape) for each in inputs], [(4, 8), (8,)])

    def test_examples_that_say_too_little_are_refused(self):
        torch.save([torch.full((4, 4), float("-inf"))], self.path("mask.pt"))
        self.assertIn("not finite", self.refused("silu", "mask.pt"))
        with open(self.path("bad.pt"), "w") as file:
            file.write("no tensors")
        self.assertIn("cannot be read as tensors", self.refused("silu", "bad.pt"))
        self.assertIn("No such file", self.refused("silu", "none.pt"))
        torch.save([set()], self.path("set.pt"))
        self.assertRegex(self.refused("silu", "set.pt"), "holds a set|cannot be read")

    def test_a_file_of_examples_runs_no_code(self):
        marker = self.path("ran")

        class Hostile:
            def __reduce__(self):
                return os.mkdir, (marker,)

        torch.save([Hostile()], self.path("hostile.pt"))
        said = self.refused("silu", "hostile.pt")
        self.assertRegex(said, r"cannot be read as tensors \(it holds \w+\.mkdir, and only tensors")
        self.assertNotIn("\x1b", said)
        self.assertFalse(os.path.exists(marker))


if __name__ == "__main__":
    unittest.main()
