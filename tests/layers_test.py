#!/usr/bin/env python3
"""Checks what the compiler does not: which folder may include which, the size of files, classes and folders.

A layer may include only the layers listed for it (the arrows of ARCHITECTURE.md); nothing includes cli. Layers are
folders of src/; those of gym/ have inner layers, and `gym/plan/analysis` is another layer than `gym/plan`. The table is
in order: a layer's row names only rows above it, so there is no cycle. Tests and testing/ folders may also use what
TESTS_MAY_INCLUDE lists.
"""
import pathlib
import re
import sys

import class_sizes

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

BASE = ["base", "data"]
# Inside the gym: what each inner layer may include besides base and data.
GYM = {
    "wire": [],
    "plan": [],
    "language": ["plan"],
    "triton_ir/syntax": [],
    "triton_ir/program": ["triton_ir/syntax", "language"],
    "triton_ir/memory": ["triton_ir/syntax", "triton_ir/program"],
    "triton_ir/execute": ["triton_ir/syntax", "triton_ir/program", "triton_ir/memory", "language"],
    "triton_ir/lower": ["triton_ir/syntax", "triton_ir/program", "triton_ir/execute"],
    "triton_ir": ["triton_ir/syntax", "triton_ir/program", "triton_ir/memory", "triton_ir/execute", "triton_ir/lower",
                  "language"],
    "tensors": ["plan"],
    "compare": ["plan", "tensors"],
    "cuda": ["plan", "compare"],
    "plan/operators": ["plan"],
    "plan/analysis": ["plan", "plan/operators", "cuda"],
    "device": ["plan", "tensors", "compare", "cuda"],
    "language/triton": ["plan", "language", "triton_ir", "cuda", "tensors"],
    "replay": ["plan", "plan/operators", "language", "tensors", "device"],
    "trial": ["plan", "plan/operators", "plan/analysis", "triton_ir/syntax", "language", "tensors", "compare", "device",
              "replay", "cuda"],
    "sandbox": ["wire"],
    "compile": ["sandbox", "wire"],
    "capture": ["compile", "sandbox", "wire"],
    "referee/protocol": ["language", "wire"],
    "timing": ["plan", "plan/operators", "plan/analysis", "language", "language/triton", "tensors", "compare", "device",
               "replay", "trial", "cuda", "referee/protocol"],
    "referee": ["plan", "plan/operators", "plan/analysis", "language", "language/triton", "tensors", "compare", "device",
                "replay", "trial", "timing", "cuda", "sandbox", "wire", "referee/protocol"],
    "api": [],
    "remote": ["api"],
    "service": ["api"],
    "judge": ["api", "plan", "language", "capture", "compile", "sandbox", "wire", "referee/protocol", "cuda"],
    "guest": ["plan"],
}
# Besides, in tests: the same layers' fakes and builders, and whole programs to test against.
TESTS_MAY_INCLUDE = {
    "plan": ["language"],
    "replay": ["plan/analysis"],
    "plan/analysis": ["language"],
    "cuda": ["plan"],
    "capture": ["plan"],
    "service": ["remote"],
    "timing": ["plan", "language"],
}
LAYERS = {
    "base": [],
    "data": ["base"],
    "text": BASE,
    "inspect": BASE,
    "curriculum": BASE,
    "reward": BASE,
    "report": BASE,
    **{f"gym/{name}": BASE + [f"gym/{other}" for other in others] for name, others in GYM.items()},
    "algorithm": BASE,
    "distributed": BASE,
    "model": BASE,
    "rollout": BASE + ["text", "model"],
    "episode": BASE + ["text", "rollout", "gym/api"],
    "eval": BASE + ["text", "model", "rollout", "episode", "reward", "gym/api", "curriculum"],
    "train": BASE + ["text", "model", "rollout", "episode", "reward", "gym/api", "algorithm", "curriculum", "distributed"],
}
TORCH_FREE = {"base", "data", "text", "inspect", "curriculum", "reward", "report"}
MAX_LINES = {".cc": 500, ".h": 250, ".py": 500, ".cu": 500}
MAX_METHODS, MAX_CLASS_LINES = 25, 400
# The classes that are larger. A class that no longer is one of them must leave this list.
LARGE_CLASSES = {
    ("distributed/watch.h", "Watch"),
    ("gym/cuda/device_kernels.h", "DeviceKernels"),
    ("gym/device/cuda_device.h", "CudaDevice"),
    ("gym/judge/coordinator.h", "Coordinator"),
    ("gym/plan/analysis/roofline.cc", "Walk"),
    ("gym/service/job_store.h", "JobStore"),
    ("gym/triton_ir/lower/lowering.h", "Lowering"),
    ("gym/triton_ir/memory/memory.h", "Memory"),
    ("gym/triton_ir/syntax/parser_state.h", "Parser"),
    ("model/cublas.h", "Cublas"),
    ("rollout/cuda_decoder.h", "CudaDecoder"),
    ("train/rl_loop.h", "RlLoop"),
}
INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"', re.M)
TEACHER_USERS = {"cli/tasks.cc", "cli/teaching.h", "cli/quickstart_config.h"}


def layer_of(name: str) -> str:
    """The longest listed folder that the file lies in; its top folder where none is listed (cli)."""
    folders = name.split("/")[:-1]
    for length in range(len(folders), 0, -1):
        if "/".join(folders[:length]) in LAYERS:
            return "/".join(folders[:length])
    return folders[0]


def is_test(name: str) -> bool:
    return "_test." in name or "/testing/" in name


def allowed(name: str, included: str) -> bool:
    layer, other = layer_of(name), layer_of(included)
    if layer == "cli" or other == layer:
        return True
    also = TESTS_MAY_INCLUDE.get(layer.removeprefix("gym/"), []) if is_test(name) else []
    return other in LAYERS.get(layer, []) or other.removeprefix("gym/") in also


def order_problems():
    seen = set()
    for layer, others in LAYERS.items():
        for other in others:
            if other not in LAYERS:
                yield f"tests/layers_test.py: {layer} names {other}, which is no layer"
            elif other not in seen:
                yield f"tests/layers_test.py: {layer} names {other}, which stands below it"
        seen.add(layer)


def class_problems():
    large = {}
    for size in class_sizes.class_sizes(SRC):
        if size.methods > MAX_METHODS or size.lines > MAX_CLASS_LINES:
            large[size.file, size.name] = size
    for (file, name), size in large.items():
        if (file, name) not in LARGE_CLASSES:
            yield (f"src/{file}: {name} has {size.methods} methods and {size.lines} lines, at most {MAX_METHODS} and "
                   f"{MAX_CLASS_LINES}: split it")
    for file, name in sorted(LARGE_CLASSES - large.keys()):
        yield f"tests/layers_test.py: {name} of src/{file} is no large class: take it off the list"


def problems():
    yield from order_problems()
    yield from class_problems()
    for path in sorted(SRC.rglob("*")):
        if path.suffix not in MAX_LINES:
            continue
        name = path.relative_to(SRC).as_posix()
        folder = name.split("/")[0]
        text = path.read_text()
        lines = text.count("\n")
        if lines > MAX_LINES[path.suffix]:
            yield f"src/{name}: {lines} lines, at most {MAX_LINES[path.suffix]}: split it"
        for included in INCLUDE.findall(text):
            if "/" not in included:
                continue
            if not allowed(name, included):
                yield f"src/{name}: {layer_of(name)} may not include {included}"
            if included.startswith("curriculum/teacher") and not (
                name.startswith("curriculum/teacher") or name in TEACHER_USERS
            ):
                yield f"src/{name}: the teacher may be reached only from {', '.join(sorted(TEACHER_USERS))}"
        if folder in TORCH_FREE and re.search(r"#include\s+[<\"](torch|ATen|c10)/", text):
            yield f"src/{name}: {folder} builds without torch"


found = list(problems())
print("\n".join(found) or f"every folder keeps to its layer; {len(LARGE_CLASSES)} classes are listed as large")
sys.exit(1 if found else 0)
