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
    "generate": BASE | {"text"},
    "generate/engine": BASE | {"text", "model", "generate"},
    "generate/api": BASE | {"text", "generate"},
    "episode": BASE | {"text", "generate", "gym/client"},
    "eval": BASE | {"text", "generate", "episode", "reward", "gym/client", "curriculum"},
    "train": BASE | {"text", "model", "generate", "episode", "reward", "gym/client", "algorithm", "curriculum", "distributed"},
    "serve": BASE | {"text", "model", "generate", "episode", "reward", "gym/client", "eval"},
}
# Folders that know the interfaces of a folder, and none of its parts.
MAY_NOT_INCLUDE = {
    "generate": {"generate/engine", "generate/api"},
    "generate/engine": {"generate/api"},
    "generate/api": {"generate/engine"},
    "episode": {"generate/engine", "generate/api"},
    "eval": {"generate/engine", "generate/api"},
}
TORCH_FREE = {"base", "data", "text", "generate", "generate/api", "inspect", "curriculum", "reward", "report", "episode", "eval"}
MAX_LINES = {".cc": 500, ".h": 250, ".py": 500, ".cu": 500}
INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"', re.M)
TEACHER_USERS = {"cli/tasks.cc", "cli/teaching.h", "cli/quickstart_config.h"}


def folder_of(name: str) -> str:
    """The folder of a file under src/, to which a row of MAY_INCLUDE applies: the inner one where it has a row of its own."""
    inner = "/".join(name.split("/")[:2])
    return inner if inner in MAY_INCLUDE else name.split("/")[0]


def allowed(folder: str, included: str) -> bool:
    if folder == "cli" or folder_of(included) == folder:
        return True
    if folder_of(included) in MAY_NOT_INCLUDE.get(folder, set()):
        return False
    names = MAY_INCLUDE.get(folder, set())
    return any(included.startswith(name + "/") for name in names)


def problems():
    for path in sorted(SRC.rglob("*")):
        if path.suffix not in MAX_LINES:
            continue
        name = path.relative_to(SRC).as_posix()
        folder = folder_of(name)
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
        if folder in TORCH_FREE and re.search(r"#include\s+[<\"](torch|ATen|c10)/", text):
            yield f"src/{name}: {folder} builds without torch"


found = list(problems())
print("\n".join(found) or "every folder keeps to its layer")
sys.exit(1 if found else 0)
