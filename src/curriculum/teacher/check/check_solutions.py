#!/usr/bin/env python3
"""Checks the teacher's solutions against their tasks, in Triton's own interpreter on the CPU.

usage: check_solutions.py EXAMPLES.jsonl
       check_solutions.py --write WRITE_EXAMPLES TASKS SEED [quickstart]   lets that program write the examples
Each line holds {"task": {...}, "style": "...", "completion": "..."}. The exit code is 1 if a solution fails or differs.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ["TRITON_INTERPRET"] = "1"

import importlib.util

import torch
import triton
import triton.runtime.interpreter as interpreter

CODE = re.compile(r"<thinking>.+?</thinking>\n<answer>\n```python\n(.*?)```\n</answer>\Z", re.S)
torch.set_num_threads(1)


def allow_sizes_in_range():
    """Mends Triton 3.6, which passes arrays of one element to range(). NumPy 2.4 no longer takes these for numbers."""
    patch = interpreter._patch_lang_tensor

    def patch_more(tensor, scope):
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = patch_more


def first_config_only(configs, key, **_):
    """Replaces the autotuner by its first configuration, because tuning needs a GPU."""
    def decorate(kernel):
        class Tuned:
            def __getitem__(self, grid):
                settings = configs[0].kwargs
                return lambda *args: kernel[grid(settings)](*args, **settings) if callable(grid) else kernel[grid](*args, **settings)
        return Tuned()
    return decorate


triton.autotune = first_config_only
allow_sizes_in_range()


def load(source, name, folder):
    path = pathlib.Path(folder) / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(example, index, folder):
    match = CODE.match(example["completion"])
    if not match:
        return "the completion has not the agreed form"
    reference = load(example["task"]["source"], f"task_{index}", folder)
    candidate = load(match.group(1), f"solution_{index}", folder)
    torch.manual_seed(index)
    init = reference.get_init_inputs()
    model = reference.Model(*init)
    solution = candidate.ModelNew(*init)
    solution.load_state_dict(model.state_dict())
    inputs = [x for x in reference.get_inputs()]
    before = [x.clone() for x in inputs]
    with torch.no_grad():
        expected = model(*inputs)
        got = solution(*inputs)
    if any(not torch.equal(a, b) for a, b in zip(before, inputs)):
        return "changes an input"
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"{got.dtype} {tuple(got.shape)} instead of {expected.dtype} {tuple(expected.shape)}"
    if not torch.isfinite(expected).all():
        return "the task itself is not finite"
    worst = ((got - expected).abs() / (1 + expected.abs())).max().item()
    return "" if worst <= 3e-5 else f"differs by {worst:.2g} (relative to 1 + the value)"


def examples(folder):
    if sys.argv[1] != "--write":
        return pathlib.Path(sys.argv[1])
    file = pathlib.Path(folder) / "examples.jsonl"
    subprocess.run([sys.argv[2], file, *sys.argv[3:]], check=True)
    return file


def main():
    failures, counts = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        for index, line in enumerate(examples(folder).read_text().splitlines()):
            example = json.loads(line)
            try:
                problem = check(example, index, folder)
            except Exception as error:  # this check looks for solutions that raise
                problem = f"{type(error).__name__}: {error}"
            counts[example["style"]] = counts.get(example["style"], 0) + 1
            if problem:
                failures += 1
                print(f"{example['task']['id']} ({example['style']}): {problem}\n{example['completion']}\n{example['task']['source']}")
    print(f"{sum(counts.values())} solutions checked {counts}, {failures} failed")
    return 1 if failures or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
