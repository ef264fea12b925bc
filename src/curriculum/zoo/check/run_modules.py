#!/usr/bin/env python3
"""Runs modules of the zoo in PyTorch on the CPU, and checks what they return.

usage: run_modules.py TRITONSMITH COUNT SEED    lets that program write the modules
       run_modules.py FOLDER
A module must run, return finite numbers, and return something else for other inputs. The exit code is 1 if one does not.
"""
import collections
import pathlib
import subprocess
import sys
import tempfile
import warnings

import torch

warnings.simplefilter("ignore")
torch.set_num_threads(1)


def modules(arguments):
    """Returns the sources by their file's name."""
    if len(arguments) == 1:
        return {path.stem: path.read_text() for path in sorted(pathlib.Path(arguments[0]).glob("*.py"))}
    program, count, seed = arguments
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "tasks", "export", f"zoo:count={count},seed={seed}", "--out", folder], check=True,
                       stdout=subprocess.DEVNULL)
        return modules([folder])


def problem_of(source):
    """Returns what is wrong with a module, or nothing."""
    scope = {"__name__": "task"}
    exec(compile(source, "task.py", "exec"), scope)
    torch.manual_seed(1)
    model = scope["Model"](*scope["get_init_inputs"]())
    results = []
    with torch.no_grad():
        for _ in range(2):
            results.append(model(*scope["get_inputs"]()))
    first, second = (result.double() for result in results)
    if not torch.isfinite(first).all():
        return "is not finite"
    if first.numel() > 262144:
        return "is large"
    if torch.allclose(first, second, rtol=1e-4, atol=1e-7) and first.dtype.is_floating_point:
        return "does not depend on its inputs"
    if first.numel() > 8 and torch.allclose(first, first.flatten()[0], rtol=1e-4, atol=1e-7):
        return "is constant"
    return None


def main():
    counts = collections.Counter()
    tasks = modules(sys.argv[1:])
    for name, source in tasks.items():
        try:
            problem = problem_of(source)
        except Exception as error:  # any failure of the module is a finding
            problem = f"fails: {type(error).__name__}: {str(error)[:200]}"
        if problem:
            counts[problem.split(":")[0]] += 1
            print(f"{name} {problem}")
    print(f"{len(tasks)} modules, {sum(counts.values())} with a problem: {dict(counts)}")
    # A few results may be constant by chance: all of an argmax may lie at one index.
    hard = sum(count for problem, count in counts.items() if problem in ("fails", "is not finite", "is large"))
    sys.exit(1 if not tasks or hard or sum(counts.values()) > len(tasks) / 50 else 0)


if __name__ == "__main__":
    main()
