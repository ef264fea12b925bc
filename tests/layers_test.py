#!/usr/bin/env python3
"""Checks what the compiler does not: which folder may include which, file lengths, and who reaches the teacher.

A folder may include only the folders listed for it (the arrows of ARCHITECTURE.md); nothing includes cli.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

BASE = {"base", "data"}
MAY_INCLUDE = {
    "base": set(),
    "data": {"base"},
    "text": BASE,
    "inspect": BASE,
    "curriculum": BASE,
    "reward": BASE,
    "report": BASE,
    "gym": BASE | {"inspect"},
    "algorithm": BASE,
    "distributed": BASE,
    "model": BASE,
    "rollout": BASE | {"text", "model"},
    "episode": BASE | {"text", "rollout", "gym/client"},
    "eval": BASE | {"text", "model", "rollout", "episode", "reward", "gym/client", "curriculum"},
    "train": BASE | {"text", "model", "rollout", "episode", "reward", "gym/client", "algorithm", "curriculum", "distributed"},
    "serve": BASE | {"text", "model", "rollout", "episode", "reward", "gym/client", "eval"},
}
TORCH_FREE = {"base", "data", "text", "inspect", "curriculum", "reward", "report"}
MAX_LINES = {".cc": 500, ".h": 250, ".py": 500, ".cu": 500}
INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"', re.M)
TEACHER_USERS = {"cli/tasks.cc", "cli/teaching.h", "cli/quickstart_config.h"}


def allowed(folder: str, included: str) -> bool:
    top = included.split("/")[0]
    if folder == "cli" or top == folder:
        return True
    names = MAY_INCLUDE.get(folder, set())
    return top in names or any(included.startswith(name + "/") for name in names)


def problems():
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
            if not allowed(folder, included):
                yield f"src/{name}: {folder} may not include {included}"
            if included.startswith("curriculum/teacher") and not (
                name.startswith("curriculum/teacher") or name in TEACHER_USERS
            ):
                yield f"src/{name}: the teacher may be reached only from {', '.join(sorted(TEACHER_USERS))}"
        if folder == "cli" and "fmt::print" in text:
            yield f"src/{name}: commands print through cli/output.h, which escapes foreign text"
        if folder in TORCH_FREE and re.search(r"#include\s+[<\"](torch|ATen|c10)/", text):
            yield f"src/{name}: {folder} builds without torch"


found = list(problems())
print("\n".join(found) or "every folder keeps to its layer")
sys.exit(1 if found else 0)
