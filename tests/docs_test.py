#!/usr/bin/env python3
"""Checks those claims of documents and comments that a program can check.

1. docs/verdict.md names exactly the finding rules and error classes that src/ can emit, and every member of a verdict.
   The Python of guests makes no error class that src/data/error_class.h does not have.
2. Every repository path in a document, and every source file in a comment, exists. Comments are those of src/, tests/,
   bench/, fuzz/, tools/, cmake/, .ci/ and python/, with the docstrings of Python.
3. Every relative link in a document leads to a file, and to a heading of it. So does every quoted heading of a page, as in
   `docs/PAGE.md, "Heading"`, in documents and comments.
4. Every promise of docs/guarantees.md names tests and files of the hostile corpus that exist.
5. The tables of docs/from-trl-and-verl.md translate the same names as src/train/config/foreign_names.cc.
6. No document tells its own history, and README.md fits on two screens.
7. docs/glossary.md defines thirty terms that src/ uses, each in one or two sentences. Every page of docs/ links to it once.

usage: docs_test.py [--list]     --list prints the rules and classes that were found in src/
"""
import ast
import io
import pathlib
import re
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SOURCES = (".h", ".cc", ".cu", ".cuh")
DOCUMENTS = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")] + sorted(DOCS.rglob("*.md"))

# The forms in which src/ makes a finding. The group of each pattern is the rule.
RULES = [re.compile(pattern) for pattern in (
    r"\.rule = \"(\w+)\"",                                # {.rule = "given_draws", ...}
    r"\.rule = [^,\"]*\? \"(\w+)\"",                      # a choice of two
    r"\.rule = [^,\"]*\? \"\w+\" : \"(\w+)\"",
    r"\{\"(\w+)\", k(?:Note|Warn|Reject), ",               # a row of the table of static rules
    r"(?<![.\w])(?:find|finding|add)\((?:shared, )?\"(\w+)\",",    # helpers that take the rule first
)]
# The forms in which the Python of guests, compile workers and the Python reference makes an error.
PYTHON_CLASSES = [re.compile(pattern) for pattern in (
    r"\b(?:CaptureStop|Refused|Refusal|describe|self\.stop)\(\"(\w+)\"",
    r"\"error\": \{\"class\": \"(\w+)\"",
    r"\bfailure\(\"(\w+)\"",
    r"error_class = .* else \"(\w+)\"",
)]
# These never appear in a verdict that this version makes.
NO_CLASSES = {"unknown", "referee_failed"}
# Comments may name files below these folders: they belong to other projects or to the embedded Python package.
FOREIGN = ("tritonsmith_guest/", "torch/", "ATen/", "aten/", "c10/", "linux/", "tensorflow/", "trl/", "verl/", "transformers/")
TERMS = 30  # of the glossary, which stays one page
# Documents say what is. What was is in git.
HISTORY = re.compile(r"\b(no longer|formerly|previously|(?:earlier|previous) versions?|by version|(?:was|were) changed|used to be)\b", re.I)
README_LINES = 100
FOLDERS = r"docs|src|tests|tools|configs|bench|fuzz|cmake|python|web|deploy|\.ci"
# Methods of the Model Context Protocol, which look like paths.
FOREIGN_PATHS = {"tools/call", "tools/list"}
FOREIGN_HEADERS = {"cuda.h", "httplib.h", "nccl.h"}


def source_files(*folders):
    for folder in folders:
        for path in sorted((ROOT / "src" / folder).rglob("*")):
            if "testing" in path.parts or path.name.endswith(("_test.cc", "_test.py")):
                continue
            if path.suffix in SOURCES + (".py",):
                yield path


def emitted(patterns, *folders):
    """Returns a table from each rule or class to the first file that makes it."""
    found = {}
    for path in source_files(*folders):
        text = re.sub(r"\s*\n\s*", " ", path.read_text())
        for pattern in patterns:
            for name in pattern.findall(text):
                found.setdefault(name, path.relative_to(ROOT).as_posix())
    return found


def table_names(page, *headings):
    """Returns the names in backticks in the first column of the tables below these headings."""
    names, inside, level = set(), False, 0
    for line in page.splitlines():
        heading = re.match(r"(#+) (.*)", line)
        if heading:
            inside = heading[2] in headings or (inside and len(heading[1]) > level)
            level = len(heading[1]) if heading[2] in headings else level
        elif inside and line.startswith("| `"):
            names.update(re.findall(r"`(\w+)`", line.split("|")[1]))
    return names


def compare(what, made, named):
    for name in sorted(set(made) - named):
        yield f"docs/verdict.md does not name the {what} `{name}`, which {made[name]} makes"
    for name in sorted(named - set(made)):
        yield (f"docs/verdict.md names the {what} `{name}`, which nothing in src/ makes by a pattern of "
               "tests/docs_test.py: take it out of the page, or teach the test the new form")


def error_classes():
    """Returns the enumerators of ErrorClass."""
    text = (ROOT / "src/data/error_class.h").read_text()
    return set(re.findall(r"\{ErrorClass::(\w+), \"\1\"\}", text))


def check_classes():
    known = error_classes()
    for name, where in emitted(PYTHON_CLASSES, "gym").items():
        if name not in known:
            yield f"{where} makes the error class `{name}`, which src/data/error_class.h does not have"


def rules_and_classes():
    rules = emitted(RULES, "inspect", "gym", "serve/jobs")
    rules.update({name: where for name, where in emitted(RULES, "text").items() if where.endswith("text/extract.cc")})
    made = emitted([re.compile(r"(?<![=!]= )\bErrorClass::(\w+)")], "gym") | emitted(PYTHON_CLASSES, "gym")
    classes = {name: where for name, where in made.items() if name in error_classes() - NO_CLASSES}
    return rules, classes


def check_verdict_page():
    page = (DOCS / "verdict.md").read_text()
    rules, classes = rules_and_classes()
    errors = table_names(page, "Errors")
    # The page names a task's own errors in the row of `task_failed`, not in a row of their own.
    errors |= {name for name in ("no_inputs", "bad_task") if f"`{name}`" in page}
    yield from compare("error class", classes, errors)
    yield from compare("finding rule", rules, table_names(page, "Findings"))
    members = re.findall(r"\{\"([a-z_0-9]+)\", |json\[\"([a-z_]+)\"\]", (ROOT / "src/data/verdict.cc").read_text())
    for name in sorted({one or other for one, other in members}):
        if not re.search(rf"`{name}(\[\])?`", page):
            yield f"docs/verdict.md does not name the member `{name}` of a verdict"


def check_guarantees():
    files = {path.stem for path in (ROOT / "tests/hostile/files").glob("*.py")}
    tests = set()
    for path in (ROOT / "src").rglob("*_test.cc"):
        for suite, test in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", path.read_text(), re.M):
            tests.update((test, suite + test))
    for folder in ("tests", "python"):
        for path in (ROOT / folder).rglob("*_test.py"):
            tests.update(re.findall(r"^ +(?:async )?def (test_\w+)\(", path.read_text(), re.M))
    for line in (DOCS / "guarantees.md").read_text().splitlines():
        if not line.startswith("| ") or line.endswith("held by |"):
            continue
        names = re.findall(r"`([\w*]+)`", line.split("|")[-2])
        if not names:
            yield f"docs/guarantees.md names no test for: {line}"
        for name in names:
            is_held = any(file.startswith(name[:-1]) for file in files) if name.endswith("*") else name in files | tests
            if not is_held:
                yield f"docs/guarantees.md names `{name}`, which is neither a test nor a file of the hostile corpus"


def check_history(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        for words in HISTORY.findall(line):
            yield f"{path.relative_to(ROOT)}:{number}: \"{words}\" tells history; say what is"


def check_readme():
    lines = len((ROOT / "README.md").read_text().splitlines())
    if lines > README_LINES:
        yield f"README.md has {lines} lines, at most {README_LINES}: it must fit on two screens"


def check_glossary():
    rows = re.findall(r"^\| (?!term |---)([^|]+) \| (.+) \|$", (DOCS / "glossary.md").read_text(), re.M)
    if len(rows) != TERMS:
        yield f"docs/glossary.md defines {len(rows)} terms, not {TERMS}"
    sources = "\n".join(path.read_text() for path in source_files(".")).lower()
    for term, meaning in rows:
        sentences = len(re.findall(r"[.?!](?= [A-Z]|$)", meaning))
        if not 1 <= sentences <= 2:
            yield f"docs/glossary.md defines {term} in {sentences} sentences, not in one or two"
        if not re.search(rf"\b{term.strip('`').lower()}s?\b", sources):
            yield f"docs/glossary.md defines {term}, which src/ does not use"


def check_glossary_links():
    for path in sorted(DOCS.glob("*.md")):
        links = path.read_text().count("](glossary.md")
        if path.name != "glossary.md" and links != 1:
            yield f"docs/{path.name} links to glossary.md {links} times, not once"


def translated_names(page):
    """Yields (project, foreign name, our names) for each name in the tables of docs/from-trl-and-verl.md. A backticked
    text of the first two columns is `NAME` or `NAME = VALUE`; a value alone is no name of an option."""
    prefix = ""
    for line in page.partition("## Names of numbers")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) < 4:
            continue
        if cells[0].startswith("TRL"):
            prefix = (re.findall(r"`(\w+\.)`", cells[2]) or [""])[0]
            continue
        spans = re.findall(r"`([\w.]+)", cells[2])
        ours = {name if "." in name else prefix + name for name in spans} | set(re.findall(r"`\[(\w+)\]`", cells[2]))
        for project, cell in zip(("TRL", "verl"), cells):
            # "`loss_mode = sapo`, or `gpg`" lists further values.
            for name in re.findall(r"`([a-z][\w.]*)(?: = [^`]*)?`", cell.partition(", or `")[0]):
                full = re.sub(r"^(actor|rollout)\.", r"actor_rollout_ref.\1.", name) if project == "verl" else name
                yield project, full, ours


def check_foreign_names():
    table, page = "src/train/config/foreign_names.cc", "docs/from-trl-and-verl.md"
    rows = re.findall(r'\{"(TRL|verl)", "([\w.]+)", "([\w.]*)"', (ROOT / table).read_text())
    named = {}
    for project, name, ours in translated_names((ROOT / page).read_text()):
        named.setdefault((project, name), []).append(ours)
    for project, name, ours in rows:
        columns = named.get((project, name), [])
        if not any(ours in column if ours else not column for column in columns):
            yield f"{page} does not translate {project}'s `{name}` to `{ours}`, as {table} does"
    for project, name in sorted(named.keys() - {(project, name) for project, name, _ in rows}):
        yield f"{table} lacks {project}'s `{name}`, which {page} translates"


def slug(heading):
    text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def without_code(text):
    return re.sub(r"```.*?```", "", text, flags=re.S)


def check_links(path, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        if "://" in target or target.startswith("mailto:"):
            continue
        file, _, anchor = target.partition("#")
        goal = (path.parent / file).resolve() if file else path
        name = path.relative_to(ROOT)
        if not goal.exists():
            yield f"{name}: the link {target} leads nowhere"
        elif anchor and goal.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", without_code(goal.read_text()), re.M)
            if anchor not in map(slug, headings):
                yield f"{name}: {goal.name} has no heading #{anchor}"


def check_quoted_headings(path, text):
    """Checks `docs/PAGE.md, "Heading"` in comments, and a link to the page with the same behind it in documents."""
    for page, heading in re.findall(r"([\w./-]+\.md)\)?, \"([^\"]+)\"", re.sub(r"\s+", " ", text)):
        goal = next((one for one in (ROOT / page, path.parent / page) if one.is_file()), None)
        if goal and heading not in re.findall(r"^#+ (.*)$", without_code(goal.read_text()), re.M):
            yield f"{path.relative_to(ROOT)}: {page} has no heading \"{heading}\""


def check_paths(path, text):
    """Checks paths below the repository's own folders, or below the file's own one. `*` and {a,b} are wildcards, and a
    word in capitals matches any name."""
    for word in re.findall(rf"(?<![\w/.\-~])((?:{FOLDERS})/[\w./*{{}},-]*[\w*}}])", text):
        word = re.sub(r"[.,]+$", "", word)
        pattern = re.sub(r"\{[^}]*\}|\b[A-Z]{2,}\b|NAME", "*", word)
        exists = any(True for _ in ROOT.glob(pattern)) if "*" in pattern else (ROOT / word).exists() or (path.parent / word).exists()
        # A path without a suffix may be a program. Its source then has the same name with a suffix.
        if not exists and word not in FOREIGN_PATHS and not any(ROOT.glob(word + ".*")):
            yield f"{path.relative_to(ROOT)}: {word} does not exist"


def commented_files():
    """Yields the files whose comments are read, of the folders that hold programs of ours."""
    for folder in ("src", "tests", "bench", "fuzz", "tools", "cmake", ".ci", "python"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and language(path):
                yield path


def language(path):
    """Returns "c", "python" or "hash" (shell and CMake), or nothing for a file without comments of ours."""
    if path.suffix in SOURCES + (".c",):
        return "c"
    if path.suffix == ".py":
        return "python"
    if path.suffix in (".sh", ".cmake") or path.name == "CMakeLists.txt":
        return "hash"
    if path.suffix:
        return None
    first = path.read_bytes()[:40].split(b"\n")[0]
    if not first.startswith(b"#!"):
        return None
    return "python" if b"python" in first else "hash"


def comments(path):
    text = path.read_text()
    kind = language(path)
    if kind == "python":
        yield text
        return
    mark = "//" if kind == "c" else "#"
    for line in text.splitlines():
        at = line.find(mark)
        if at >= 0 and not line.lstrip().startswith(("#include", "#!")):
            yield line[at + len(mark):]


def python_comments(text):
    """Yields the comments and docstrings of a Python file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield ast.get_docstring(node) or ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def check_comments(known, basenames):
    for path in commented_files():
        name = path.relative_to(ROOT)
        yield from check_quoted_headings(path, "\n".join(comments(path)))
        for comment in comments(path):
            yield from check_paths(path, comment)
            if language(path) == "python":
                comment = "\n".join(python_comments(comment))
            for word in re.findall(r"(?<![\w/.<*-])([\w./-]*\w\.(?:h|cc|cuh|cu|py))(?![\w/])", comment):
                if "/" not in word:
                    exists = word.endswith(".py") or word in basenames or word in FOREIGN_HEADERS
                else:
                    exists = (word.startswith(FOREIGN) or (path.parent / word).exists()
                              or any(one.endswith("/" + word) for one in known))
                if not exists:
                    yield f"{name}: a comment names {word}, which does not exist"


def problems():
    yield from check_classes()
    yield from check_verdict_page()
    yield from check_guarantees()
    yield from check_foreign_names()
    yield from check_glossary()
    yield from check_glossary_links()
    yield from check_readme()
    for path in DOCUMENTS:
        text = path.read_text()
        yield from check_links(path, text)
        yield from check_paths(path, text)
        yield from check_quoted_headings(path, text)
        yield from check_history(path, text)
    known = ["/" + path.relative_to(ROOT).as_posix() for top in ("src", "tests", "bench", "fuzz", "tools", "python")
             for path in (ROOT / top).rglob("*") if path.suffix in SOURCES + (".py",)]
    yield from check_comments(known, {name.rsplit("/", 1)[1] for name in known})


if "--list" in sys.argv[1:]:
    for kind, names in zip(("finding rules", "error classes"), rules_and_classes()):
        print(f"{len(names)} {kind}")
        for name in sorted(names):
            print(f"  {name}  {names[name]}")
    sys.exit(0)
found = list(dict.fromkeys(problems()))
print("\n".join(found) or "documents and comments name what exists")
sys.exit(1 if found else 0)
