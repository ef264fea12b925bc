#!/usr/bin/env python3
"""Checks rules that the compiler does not know: which folder may include which, and the size of files, classes and folders.

A layer may include only the layers listed for it (the arrows of ARCHITECTURE.md); nothing includes cli. Layers are
folders of src/. gym/, model/ and train/ have inner layers, and `gym/plan/analysis` is another layer than `gym/plan`. The
table is in order: a layer's row names only rows above it, so there is no cycle. Tests and testing/ folders may also use
what TESTS_MAY_INCLUDE lists. The guests' shared Python names no kernel language, but for its list of languages. A
header's namespace follows its path; the table "Namespaces" of ARCHITECTURE.md has the exceptions.
"""
import ast
import pathlib
import re
import sys

import class_sizes

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

BASE = ["base", "data"]
# Inside the gym, each inner layer may include base, data and these layers.
GYM = {
    "wire": [],
    "plan": [],
    "plan/operators": ["plan"],
    "language": ["plan"],
    "triton_ir/syntax": [],
    "triton_ir/hints": ["triton_ir/syntax"],
    "triton_ir/program": ["triton_ir/syntax", "language"],
    "triton_ir/memory": ["triton_ir/syntax", "triton_ir/program"],
    "triton_ir/execute": ["triton_ir/syntax", "triton_ir/program", "triton_ir/memory", "language"],
    "triton_ir/lower": ["triton_ir/syntax", "triton_ir/hints", "triton_ir/program", "triton_ir/execute"],
    "triton_ir": ["triton_ir/syntax", "triton_ir/hints", "triton_ir/program", "triton_ir/memory", "triton_ir/execute", "triton_ir/lower",
                  "language"],
    "tensors": ["plan"],
    "compare": ["plan", "tensors"],
    "cuda": ["plan", "compare"],
    "plan/analysis/cost": ["plan", "plan/operators"],
    "plan/analysis": ["plan", "plan/operators"],
    "plan/faults": ["plan", "plan/operators", "plan/analysis"],
    "device": ["plan", "tensors", "compare", "cuda"],
    "language/triton/ptx": [],
    "language/triton": ["plan", "language", "triton_ir", "triton_ir/syntax", "cuda", "language/triton/ptx"],
    "language/registry": ["plan", "language", "language/triton"],
    "replay": ["plan", "plan/operators", "plan/analysis", "language", "tensors", "device"],
    "trial/findings": ["plan", "plan/operators", "plan/analysis", "language/registry", "tensors", "replay"],
    "trial/perturb": ["plan", "plan/operators", "plan/analysis", "language", "language/registry", "tensors", "device"],
    "trial/weights": ["plan", "plan/operators", "plan/analysis", "language", "tensors", "trial/perturb"],
    "trial": ["plan", "plan/operators", "plan/analysis", "language", "language/registry", "tensors", "compare", "device",
              "replay", "cuda", "trial/findings", "trial/perturb", "trial/weights"],
    "sandbox": ["wire"],
    "compile": ["plan", "language", "language/registry", "sandbox", "wire"],
    "capture": ["compile", "sandbox", "wire"],
    "referee/protocol": ["language", "wire"],
    "timing": ["plan", "plan/operators", "plan/analysis", "plan/analysis/cost", "language", "tensors", "compare", "device",
               "replay", "trial", "trial/perturb", "cuda", "referee/protocol"],
    "referee": ["plan", "plan/operators", "plan/analysis", "plan/analysis/cost", "plan/faults", "language", "language/registry", "tensors", "compare", "device",
                "replay", "trial", "trial/findings", "trial/perturb", "trial/weights", "timing", "cuda", "sandbox", "wire", "referee/protocol"],
    "api": [],
    "remote": ["api"],
    "service": ["api"],
    "service/http": ["api", "service"],
    "service/redis": ["service"],
    "judge": ["api", "plan", "language", "language/registry", "capture", "compile", "sandbox", "wire", "referee/protocol", "cuda"],
    "steps": ["plan", "language", "language/registry", "capture", "compile", "sandbox", "service", "service/redis"],
    "guest": ["plan"],
}
# Inside the model, each inner layer may include base, data and these layers.
MODEL = {
    "config": [],
    "batch": [],
    "cuda": [],
    "cpu": ["batch"],
    "memory": ["cpu"],
    "weights": ["config", "cpu", "cuda"],
    "cublas": ["config", "cuda"],
    "layers": ["config", "batch", "cuda", "cpu", "weights", "cublas"],
    "transformer": ["config", "batch", "weights", "layers"],
    "checkpoint": ["config", "weights", "transformer"],
    "lora": ["weights", "transformer", "checkpoint"],
    "compare": ["layers", "checkpoint"],
}
# Inside training, each inner layer may include these layers, and those that all of training may include.
TRAIN = {
    "batch": [],
    "optimizer": ["batch"],
    "config": ["optimizer"],
    "gradient": ["batch", "optimizer"],
    "run": ["optimizer", "config", "gradient"],
    "experience": ["run"],
    "credit": ["gradient", "experience"],
    "sft": ["batch", "optimizer", "config", "gradient", "run"],
    "rl": ["batch", "optimizer", "config", "gradient", "run", "experience", "credit", "sft"],
    "compare": ["gradient"],
}
# Inside the protocols of a service, each inner layer may include these layers, and the gym's service with its HTTP.
SERVE = {
    "jobs": [],
    "rewards": ["jobs"],
    "mcp": ["jobs"],
    "openenv": ["jobs", "mcp"],
    "nemo_gym": ["jobs"],
}
# Tests may also include these: the fakes and builders of other layers, and whole programs to test against.
TESTS_MAY_INCLUDE = {
    "gym/plan": ["gym/language"],
    "gym/plan/analysis": ["gym/language"],
    "gym/cuda": ["gym/plan"],
    "gym/capture": ["gym/plan"],
    "gym/service": ["gym/remote", "gym/service/http", "gym/service/redis"],
    "curate": ["gym/api"],
    "distil": ["generate/api"],
    "verifier": ["generate/api"],
    "gym/steps": ["gym/judge"],
    "serve/web": ["generate"],
    "gym/timing": ["gym/plan", "gym/language"],
    "model/layers": ["model/memory"],
    "model/transformer": ["model/memory", "model/checkpoint"],
}


def inner(folder: str, layers: dict, base: list) -> dict:
    """Returns the rows of a folder's inner layers."""
    return {f"{folder}/{name}": base + [f"{folder}/{other}" for other in others] for name, others in layers.items()}


ALL_OF_MODEL = [f"model/{name}" for name in MODEL]
LAYERS = {
    "base": [],
    "data": ["base"],
    "hub": ["base"],
    "text": BASE,
    "curriculum/zoo": BASE,
    "curriculum": BASE + ["curriculum/zoo"],
    "datasets": BASE + ["text", "curriculum"],
    "reward": BASE,
    "reward/url": BASE,
    **inner("gym", GYM, BASE),
    "inspect": BASE + ["gym/plan/operators"],
    **inner("serve", SERVE, BASE + ["text", "reward", "gym/api", "gym/service", "gym/service/http"]),
    "serve": BASE + ["text", "reward", "gym/api", "serve/jobs"],
    "pairs": BASE + ["gym/api", "gym/sandbox", "gym/capture", "gym/compile", "gym/wire"],
    "modules": BASE + ["gym/sandbox"],
    "algorithm": BASE,
    "distributed": BASE,
    "generate": BASE + ["text"],
    "generate/api": BASE + ["text", "generate"],
    **inner("model", MODEL, BASE),
    "generate/engine": BASE + ["text", "generate"] + ALL_OF_MODEL,
    "episode": BASE + ["text", "generate", "gym/api"],
    "search": BASE + ["text", "generate", "episode", "gym/api"],
    "report": BASE + ["text", "search"],
    "verifier": BASE + ["text", "inspect", "generate", "gym/api"],
    "eval": BASE + ["text", "generate", "episode", "search", "reward", "gym/api", "curriculum"],
    "distil": BASE + ["text", "generate", "episode", "eval", "gym/api"],
    "curate": BASE + ["text", "inspect", "curriculum", "datasets", "distil", "gym/capture", "gym/compile", "gym/sandbox", "gym/wire",
                      "gym/plan", "gym/language", "gym/language/registry"],
    "serve/openai": BASE + ["text", "generate"],
    "serve/assistant": BASE + ["text", "generate", "gym/api", "episode", "search", "curriculum", "modules", "serve/openai"],
    "serve/runs": BASE,
    "serve/web": BASE + ["text", "modules", "gym/api", "gym/service", "gym/service/http", "serve/openai", "serve/assistant", "serve/runs"],
    **inner("train", TRAIN, BASE + ["text"] + ALL_OF_MODEL + ["generate", "generate/engine", "episode", "reward", "reward/url",
                                                              "gym/api", "algorithm", "curriculum", "distributed"]),
}
TORCH_FREE = {"base", "data", "hub", "text", "generate", "inspect", "curriculum", "datasets", "pairs", "modules", "reward", "report", "episode", "search", "verifier", "eval", "distil", "curate", "serve", "gym/plan/operators"}
MAX_LINES = {".cc": 500, ".h": 250, ".py": 500, ".cu": 500}
MAX_METHODS, MAX_CLASS_LINES = 25, 400
# The sources of a folder, without its tests.
MAX_SOURCES = 25
# These classes exceed the limit. In each, all methods work on one state, so that two classes would pass it to and fro. The
# reason beside it says which state. A class that no longer exceeds the limit must leave this list.
LARGE_CLASSES = {
    # One method for each device kernel of the referee. They share one array of results, whose layout says which calls
    # may wait at the same time.
    ("gym/cuda/device_kernels.h", "DeviceKernels"),
    # It answers the 22 questions of Device and the three of DeviceComparison about one GPU, each in a few lines.
    ("gym/device/cuda_device.h", "CudaDevice"),
    # Products and the choice of their kernels share the matmuls of each shape and one workspace.
    ("model/cublas/cublas.h", "Cublas"),
    # 23 methods. Prompts, decode steps and reading of draws work on one cache, one stream and its recorded graphs.
    ("generate/engine/cuda_decoder.h", "CudaDecoder"),
}
# ARCHITECTURE.md says once what these hold: parts of tests, Python packages below `python/`, headers of others.
UNNAMED = {"testing", "compare", "check", "probe", "python", "gloo", "tree_sitter", "__pycache__"}
INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"', re.M)
TEACHER_USERS = {"cli/tasks/tasks.cc", "cli/setup/teacher_examples.h", "cli/setup/quickstart_config.h"}


def layer_of(name: str) -> str:
    """Returns the longest listed folder that holds the file, or its top folder if none is listed (cli)."""
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
    also = TESTS_MAY_INCLUDE.get(layer, []) if is_test(name) else []
    return other in LAYERS.get(layer, []) or other in also


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


def folder_problems():
    sources = {}
    for path in SRC.rglob("*"):
        if path.suffix in (".cc", ".cu", ".py") and not path.stem.endswith("_test"):
            sources.setdefault(path.parent.relative_to(SRC).as_posix(), []).append(path)
    large = {folder: len(files) for folder, files in sources.items() if len(files) > MAX_SOURCES}
    for folder in sorted(large):
        yield f"src/{folder}: {large[folder]} sources, at most {MAX_SOURCES}: give it folders of its own"


def imported_guest_modules(tree: ast.AST) -> set:
    """Returns the modules of the guests' package that a Python source imports."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[1] for alias in node.names if alias.name.startswith("tritonsmith_guest."))
        elif isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] == "tritonsmith_guest"):
            module = (node.module or "").removeprefix("tritonsmith_guest").lstrip(".")
            found.update([module.split(".")[0]] if module else [alias.name for alias in node.names])
    return found


def words_of(tree: ast.AST) -> set:
    """Returns the words of a Python source's names and texts in lower case, such as "triton" of `triton_language`. Comments and
    docstrings may name a language as an example."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {id(node.body[0].value) for node in ast.walk(tree)
                  if isinstance(node, documented) and ast.get_docstring(node) is not None}
    texts = [value for node in ast.walk(tree) if id(node) not in docstrings
             for _, value in ast.iter_fields(node) if isinstance(value, str)]
    return {word.lower() for text in texts for word in re.findall("[A-Z]?[a-z0-9]+|[A-Z]+", text)}


def language_problems():
    """Finds the guests' shared modules that know a kernel language. Only their list of languages may."""
    modules = {folder.parent.name: {path.stem for path in folder.glob("*.py")} for folder in SRC.glob("gym/language/*/guest")}
    for path in sorted(SRC.glob("gym/guest/**/*.py")):
        if path.name == "languages.py" or is_test(path.as_posix()):
            continue
        name, tree = path.relative_to(SRC).as_posix(), ast.parse(path.read_text())
        imported, words = imported_guest_modules(tree), words_of(tree)
        for language, own in modules.items():
            for module in sorted(imported & own):
                yield f"src/{name}: imports {module}, which is {language}'s own: ask the objects of languages.py"
            if language in words:
                yield f"src/{name}: names {language}: ask the objects of languages.py"


def architecture_rows(page: str):
    """Yields (folder below src/, the row's last cell) for each row of the tables of folders in ARCHITECTURE.md."""
    tables = {"| folder |": "", "| layer |": "gym/", "| `model/` |": "model/", "| `train/` |": "train/", "| `serve/` |": "serve/"}
    above, lines = None, page.splitlines()
    for line, following in zip(lines, lines[1:]):
        if following.startswith("|---"):
            above = next((folder for begin, folder in tables.items() if line.startswith(begin)), None)
        elif line.startswith("| `") and above is not None:
            cells = line.strip("| ").split(" | ")
            for name in re.findall(r"`([\w/]+)/`", cells[0]):
                yield above + name, cells[-1].strip() if len(cells) > 2 else ""


def layers_of_row(cell: str, rows: dict) -> set:
    """Returns the layers that a row names: "base, data", or "as `episode/`, + episode"."""
    names = set()
    for name in filter(None, re.split(r",? \+ |, ", cell.strip("| "))):
        like = re.fullmatch(r"as `([\w/]+)/`", name)
        names |= layers_of_row(rows[like[1]], rows) if like else {name}
    return names


def architecture_problems():
    """ARCHITECTURE.md has a row for each layer, which names what LAYERS names, and it names every folder."""
    page = (ROOT / "ARCHITECTURE.md").read_text()
    rows = dict(architecture_rows(page))
    for folder in rows:
        if not (SRC / folder).is_dir():
            yield f"ARCHITECTURE.md: {folder}/ does not exist"
    for layer, others in LAYERS.items():
        top = layer.split("/")[0]
        if top in ("gym", "model", "train") or layer in [f"serve/{name}" for name in SERVE]:
            continue
        named = layers_of_row(rows[layer], rows) if layer in rows else None
        if named != {"model" if other.startswith("model/") else other for other in others}:
            yield f"ARCHITECTURE.md: the row of {layer}/ does not name the layers of LAYERS"
    for path in sorted(SRC.rglob("*")):
        if path.is_dir() and not UNNAMED & set(path.relative_to(SRC).parts) and any(path.glob("*.*")):
            if not re.search(rf"`([\w/]+/)?{path.name}/`", page):
                yield f"ARCHITECTURE.md does not name {path.relative_to(ROOT)}/"


def shared_namespaces() -> dict:
    """Returns the table "Namespaces" of ARCHITECTURE.md: from each folder, or `FOLDER/*` for all inside it, to its namespace."""
    table = (ROOT / "ARCHITECTURE.md").read_text().partition("\n| folders | namespace |")[2].partition("\n\n")[0]
    found = {}
    for line in table.splitlines()[2:]:
        cells = line.strip("| ").split(" | ")
        folders, namespaces = re.findall(r"`([\w/*]+)/`", cells[0]), re.findall(r"`([\w:]+)`", cells[1])
        for index, folder in enumerate(folders):
            found[folder] = namespaces[index if len(namespaces) > 1 else 0]
    return found


def is_within(name: str, namespace: str) -> bool:
    return name == namespace or (namespace != "" and name.startswith(namespace + "::"))


def namespace_problems():
    shared, used = shared_namespaces(), set()
    for path in sorted(SRC.rglob("*.h")):
        parts = path.relative_to(SRC).parts[:-1]
        names = re.findall(r"^namespace tritonsmith(?:::)?([\w:]*) \{", path.read_text(), re.M)
        if UNNAMED - {"testing"} & set(parts) or not names:
            continue
        folder = "/".join(parts[: parts.index("testing")] if "testing" in parts else parts)
        exception = next((one for one in (folder, f"{folder.rpartition('/')[0]}/*") if one in shared), None)
        namespace = folder.replace("/", "::")
        if any(is_within(name, namespace) for name in names):
            continue
        if exception is None or not any(is_within(name, shared[exception].removeprefix("tritonsmith")) for name in names):
            yield f"{path.relative_to(ROOT)}: its namespace is neither {namespace} nor one that ARCHITECTURE.md names"
        used.add(exception)
    for folder in sorted(shared.keys() - used):
        yield f"ARCHITECTURE.md: {folder}/ is no exception in the table of namespaces"


def problems():
    yield from order_problems()
    yield from namespace_problems()
    yield from language_problems()
    yield from architecture_problems()
    yield from class_problems()
    yield from folder_problems()
    for path in sorted(SRC.rglob("*")):
        if path.suffix not in MAX_LINES:
            continue
        name = path.relative_to(SRC).as_posix()
        layer = layer_of(name)
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
        if layer == "cli" and "fmt::print" in text:
            yield f"src/{name}: commands print through cli/call/output.h, which escapes foreign text"
        if layer in TORCH_FREE and re.search(r"#include\s+[<\"](torch|ATen|c10)/", text):
            yield f"src/{name}: {layer} builds without torch"


found = list(problems())
print("\n".join(found) or f"every folder keeps to its layer; {len(LARGE_CLASSES)} classes are listed as large")
sys.exit(1 if found else 0)
