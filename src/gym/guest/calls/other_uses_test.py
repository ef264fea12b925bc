"""Tests that what users do with a module leads to the judged call: other instances, weights that are loaded, copies, moves and modes."""

import os
import random
import sys
import unittest

sys.path[:0] = [os.environ["TRITONSMITH_GUEST"], os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "testing")]

from captures import capture_candidate, capture_task, launches  # noqa: E402
from tritonsmith_guest.capture import candidate_request, capture  # noqa: E402

CANDIDATE = """
import copy, itertools, weakref
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def scaled(x, w, y, n, s, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * tl.load(w) * s, mask=at < n)

{names}

class ModelNew(nn.Module):
    def __init__(self, *arguments, **named):
        super().__init__()
        self.linear = nn.Linear(64, 64)
        self.table = torch.full((4,), 2.0, device="cuda")
        self.s = 1.0
        {attribute}

    {method}

    def forward(self, x):
        {count}
        y = torch.empty_like(x)
        scaled[(2,)](x, {weight}, y, x.numel(), {scale}, BLOCK=1024)
        return y
"""
# What a user may do, and a method that notices it.
METHODS = {
    "state_dict()": "def state_dict(self, *a, **k):\n        {}\n        return super().state_dict(*a, **k)",
    "load_state_dict()": "def _load_from_state_dict(self, *a, **k):\n        {}\n        return super()._load_from_state_dict(*a, **k)",
    "cuda()": "def cuda(self, device=None):\n        {}\n        return super().cuda(device)",
    "to()": "def to(self, *a, **k):\n        {}\n        return super().to(*a, **k)",
    "any move": "def _apply(self, fn, recurse=True):\n        {}\n        return super()._apply(fn, recurse)",
    "a cast": "def float(self):\n        {}\n        return super().float()",
    "train()": "def train(self, mode=True):\n        if not mode: {}\n        return super().train(mode)",
    "eval()": "def eval(self):\n        {}\n        return super().eval()",
    "requires_grad_()": "def requires_grad_(self, how=True):\n        {}\n        return super().requires_grad_(how)",
    "zero_grad()": "def zero_grad(self, set_to_none=True):\n        {}\n        return super().zero_grad(set_to_none)",
    "parameters()": "def parameters(self, recurse=True):\n        {}\n        return super().parameters(recurse)",
    "deepcopy()": "def __deepcopy__(self, memo):\n        {}\n        return self",
    "pickling": "def __getstate__(self):\n        {}\n        return self.__dict__",
    "repr()": "def extra_repr(self):\n        {}\n        return ''",
}


def candidate(names="", attribute="pass", method="", count="pass", weight="self.linear.weight", scale="self.s"):
    return CANDIDATE.format(names=names, attribute=attribute, method=method, count=count, weight=weight, scale=scale)


class OtherInstances(unittest.TestCase):
    def setUp(self):
        self.dice = random.Random(f"instances {self.id()}")

    def ends(self, source):
        return capture_candidate(source).get("error", {}).get("class")

    def test_an_instance_that_differs_is_found(self):
        for names, attribute in (("made = []", "made.append(0); n = len(made)"), ("class Made: total = 0", "Made.total += 1; n = Made.total"),
                                 ("ids = itertools.count(1)", "n = next(ids)")):
            for first in (2, self.dice.randrange(3, 12)):
                source = candidate(names, f"{attribute}; self.s = 1.0 if n < {first} else 0.5")
                with self.subTest(attribute=attribute, first=first):
                    self.assertEqual(self.ends(source), "state_carried")

    def test_what_the_constructor_makes_is_compared(self):
        names = "made = []"
        for made in ("self.table = torch.full((4,), 2.0 / len(made), device='cuda')", "self.table = torch.tensor([2.0 / len(made)] * 4).cuda()"):
            self.assertEqual(self.ends(candidate(names, f"made.append(0); {made}", weight="self.table")), "state_carried")

    def test_an_instance_may_not_use_the_weights_of_another(self):
        kept = candidate("kept = []", "kept.append(self.linear.weight)", weight="kept[0]")
        self.assertEqual(self.ends(kept), "state_carried")

    def test_what_the_weights_of_another_decide_is_not_shared(self):
        for attribute in ("tables.setdefault(4, (self.linear.weight * 2).cuda())", "self.w = nn.Parameter(torch.arange(4.0) / 4); tables.setdefault(4, self.w)",
                          "self.register_buffer('w', torch.zeros(4)); tables.setdefault(4, self.w)"):
            with self.subTest(attribute):
                self.assertEqual(self.ends(candidate("tables = {}", attribute, weight="tables[4]")), "state_carried")

    def test_another_instance_may_not_hide_from_the_capture(self):
        names, attribute = "made = []", "made.append(0); self.late = len(made) > 1"
        for count in ("self.s = 0.5 if self.late and x.sum().item() > -9e9 else 1.0",
                      "try:\n            self.late and x.sum().item()\n        except BaseException: pass"):
            with self.subTest(count):
                self.assertEqual(self.ends(candidate(names, attribute, count=count)), "state_carried")
        asserts = "made.append(0); assert len(made) == 1, 'there may be only one'"
        self.assertIsNone(self.ends(candidate(names, asserts)))

    def test_counts_tables_and_workspaces_of_all_instances_are_accepted(self):
        for names, attribute, count, weight in (
                ("made = []", "made.append(weakref.ref(self)); self.number = len(made)", "pass", "self.linear.weight"),
                ("tables = {}", "tables.setdefault(4, torch.arange(4.0, device='cuda'))", "pass", "tables[4]"),
                ("tables = {}", "pass", "tables.setdefault(4, torch.arange(4.0, device='cuda'))", "tables[4]"),
                ("", "self.table = torch.log(torch.arange(1, 65).float()).repeat(2, 1).cuda()", "pass", "self.table"),
                ("", "self.table = torch.cos(torch.outer(torch.arange(8) + 0.5, torch.arange(8) * 0.1)).cuda()", "pass", "self.table"),
                ("", "self.cos = None", "if self.cos is None: self.cos = torch.cos(torch.outer(torch.arange(64., device='cuda'), self.linear.bias))",
                 "self.cos"),
                ("tables = {}", "tables.setdefault(4, torch.cos(torch.arange(4.0).cuda() + 0.5))", "pass", "tables[4]"),
                ("tables = {}", "t = torch.zeros(4).cuda(); t[1:] = torch.arange(3.0).cuda(); tables.setdefault(4, t)", "pass", "tables[4]"),
                ("tables = {}", "if 4 not in tables: tables[4] = torch.zeros(4).cuda(); tables[4][1:] = torch.rand(3).cuda()", "pass", "tables[4]"),
                ("made = []", "made.append(0); self.linear = nn.utils.weight_norm(self.linear)", "pass", "self.linear.weight_v"),
                ("pool = {}", "pass", "scaled[(2,)](x, x, pool.setdefault(x.shape, torch.empty_like(x)), x.numel(), 1.0, BLOCK=1024)", "x"),
                ("", "self.w = nn.Parameter(torch.randn(3)); nn.init.normal_(self.w)", "pass", "self.w"),
                ("", "self.packed = self.linear.weight.detach().t().contiguous().cuda()", "pass", "self.packed"),
                ("", "self.packed = None", "if self.packed is None: self.packed = self.linear.weight.detach().t().contiguous()", "self.packed")):
            with self.subTest(attribute=attribute, count=count):
                self.assertIsNone(self.ends(candidate(names, attribute, count=count, weight=weight)))

    def test_methods_of_modules_may_not_change_the_call(self):
        for name, method in METHODS.items():
            with self.subTest(name):
                self.assertEqual(self.ends(candidate(method=method.format("self.s = 0.5"))), "state_carried")

    def test_what_a_use_makes_is_compared(self):
        packed = "self.linear.weight.detach().t().contiguous().cuda()"
        for made, ends in ((packed, None), ("torch.zeros(64, 64, device='cuda')", "state_carried"),
                           ("self.linear.weight.detach().contiguous().cuda()", "state_carried"), ("self.linear.weight", "state_carried")):
            method = f"def _apply(self, fn, recurse=True):\n        self.packed = {made}\n        return super()._apply(fn, recurse)"
            with self.subTest(made):
                self.assertEqual(self.ends(candidate("", f"self.packed = {packed}", method, weight="self.packed")), ends)

    def test_a_use_may_not_change_weights(self):
        method = METHODS["load_state_dict()"].format("self.linear.weight.data.zero_()")
        self.assertEqual(self.ends(candidate(method=method)), "state_carried")

    def test_methods_of_modules_may_do_something_else(self):
        for name, method in METHODS.items():
            for act in ("self.noticed = True", "self.packed = None"):
                count = "if getattr(self, 'packed', None) is None: self.packed = self.linear.weight.detach().t().contiguous()"
                with self.subTest(name, act=act):
                    self.assertIsNone(self.ends(candidate(method=method.format(act), count=count, weight="self.packed")))

    def test_hooks_and_objects_that_are_copied_may_not_change_the_call(self):
        for names, attribute in (("def noticed(module, keys): module.s = 0.5", "self.register_load_state_dict_post_hook(noticed)"),
                                 ("def noticed(module, *all): module.s = 0.5", "self._register_state_dict_hook(noticed)"),
                                 ("class Scale:\n    s = 1.0\n    def __deepcopy__(self, memo):\n        self.s = 0.5\n        return self",
                                  "self.scale = Scale()")):
            scale = "self.scale.s" if "Scale" in names else "self.s"
            with self.subTest(attribute=attribute):
                self.assertEqual(self.ends(candidate(names, attribute, scale=scale)), "state_carried")


class Modes(unittest.TestCase):
    def test_a_call_in_evaluation_mode_that_differs_is_in_the_plan(self):
        for source in (candidate(scale="1.0 if self.training else 0.5"),
                       candidate(method="def train(self, mode=True):\n        self.s = 1.0 if mode else 0.5\n        return super().train(mode)")):
            plan = capture_candidate(source)["plan"]
            self.assertIn("in evaluation mode", plan["first_call"]["difference"])
            phases = [(step["phase"], step["launch"][0]["arguments"][4]["f"]) for step in plan["steps"] if "launch" in step]
            self.assertEqual(phases, [("first_call", 1.0), ("forward", 0.5)])

    def test_what_a_change_of_the_mode_makes_is_in_the_plan(self):
        method = ("def train(self, mode=True):\n        self.packed = None if mode else self.linear.weight.detach().t().contiguous()\n"
                  "        return super().train(mode)")
        plan = capture_candidate(candidate(attribute="self.packed = None", method=method,
                                           weight="self.linear.weight if self.packed is None else self.packed"))["plan"]
        self.assertEqual(len(launches(plan)), 2)
        self.assertIn("aten::clone", [step.get("aten") for step in plan["steps"] if step["phase"] == "first_call"])

    def test_a_task_that_asks_for_its_mode_leaves_it_to_its_candidates(self):
        task = capture_task("import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
                            "        return x * 2 if self.training else x\n\ndef get_inputs():\n    return [torch.randn(32, 64)]\n")["plan"]
        self.assertNotIn("ignores_mode", task)
        answer = capture(candidate_request(task, candidate(scale="2.0 if self.training else 1.0"), "candidate.py"))
        self.assertNotIn("first_call", answer["plan"])

    def test_a_task_says_whether_its_mode_matters(self):
        for body, ignores in (("nn.LayerNorm(8)", True), ("nn.BatchNorm1d(8)", False), ("nn.Sequential(nn.Linear(8, 8), nn.ReLU())", True),
                              ("nn.Dropout(0.5)", False), ("nn.Dropout(0.0)", True)):
            plan = capture_task(f"import torch\nimport torch.nn as nn\n\nclass Model(nn.Module):\n    def __init__(self):\n"
                                f"        super().__init__()\n        self.body = {body}\n    def forward(self, x):\n"
                                "        return self.body(x)\n\ndef get_inputs():\n    return [torch.randn(4, 8)]\n")["plan"]
            self.assertEqual(plan.get("ignores_mode", False), ignores, body)


if __name__ == "__main__":
    unittest.main()
