"""Collects all cases of the corpus, including the generated ones."""
import importlib
import sys

MODULES = ("generated_cases", "reductions", "shapes", "control", "memory", "matrices", "networks", "language")


def cases(folder):
    sys.path.insert(0, folder)
    seen = set()
    for name in MODULES:
        for case in importlib.import_module("corpus." + name).cases():
            if case.name in seen:
                raise ValueError(f"two cases are named {case.name}")
            seen.add(case.name)
            yield case
