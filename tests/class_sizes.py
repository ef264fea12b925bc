"""Measures the classes of src/: how many methods each declares, and how many lines implement them.

This reads C++ as clang-format writes it, without a compiler. A class is `class` or `struct` with a body. Its methods are
the functions that its body declares, without `= default` and `= delete`. Its lines are those of its body and, in the same
folder, of the functions that are defined outside of it, which begin and end in the first column.
"""
import dataclasses
import pathlib
import re

TOKENS = re.compile(
    r'R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'', re.S
)
CLASS = re.compile(r"(?<!enum )\b(?:class|struct)\s+(?:\w+::)*(\w+)(?:\s+final)?\s*(?::(?!:)[^;{}()]*)?\{")
METHOD = re.compile(r"(?:~?\b\w+|\boperator\s*[^\s\w]+)\s*\(\)")
NO_METHODS = {"static_assert", "alignas", "decltype", "noexcept", "explicit", "requires"}


@dataclasses.dataclass
class ClassSize:
    file: str
    name: str
    methods: int
    lines: int


def without_text(source: str) -> str:
    """Returns the source without comments and without the text of literals. Line numbers stay the same."""
    return TOKENS.sub(lambda found: ("" if found[0].startswith("/") else '""') + "\n" * found[0].count("\n"), source)


def end_of_braces(source: str, begin: int) -> int:
    depth = 0
    for at in range(begin, len(source)):
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        if depth == 0:
            return at
    return len(source)


def collapsed(source: str, opening: str, closing: str) -> str:
    """Removes the contents of each outermost pair of brackets."""
    out, depth = [], 0
    for char in source:
        depth -= char == closing and depth > 0
        if depth == 0:
            out.append(char)
        depth += char == opening
    return "".join(out)


def count_methods(body: str) -> int:
    body = collapsed(collapsed(body, "{", "}"), "(", ")")
    while (plain := re.sub(r"<[^<>;]*>", "", body)) != body:
        body = plain
    count = 0
    for declaration in re.split(r"[;}]", re.sub(r"\b(?:public|private|protected)\s*:", ";", body)):
        declared = declaration.strip()
        found = METHOD.search(declared.split("=")[0] if "operator" not in declared else declared)
        if declared.startswith((",", ")", "{", "using", "friend")) or re.search(r"=\s*(default|delete)$", declared):
            continue
        count += found is not None and re.match(r"~?\w+", found[0])[0] not in NO_METHODS
    return count


def lines_defined_outside(name: str, sources) -> int:
    begin = re.compile(rf"^(?=[\w:~])[^;{{}}=]*?\b{name}::(?:~?\w+|operator[^\w\s]+)\(", re.M)
    lines = 0
    for source in sources:
        for found in begin.finditer(source):
            end = source.find("\n}", found.end())
            line_end = source.find("\n", found.end())
            # A definition on one line ends in its own brace.
            one_line = source[found.start():line_end].rstrip().endswith("}")
            lines += 1 if one_line else source.count("\n", found.start(), end + 1) + 1
    return lines


def class_sizes(root: pathlib.Path):
    """Returns all classes below `root`, except those of tests."""
    folders = {}
    for path in sorted(root.rglob("*")):
        if path.suffix in (".h", ".cc") and "_test." not in path.name and "testing" not in path.parts:
            folders.setdefault(path.parent, {})[path] = without_text(path.read_text())
    for files in folders.values():
        for path, source in files.items():
            others = [text for other, text in files.items() if other.suffix == ".cc"] if path.suffix == ".h" else [source]
            for found in CLASS.finditer(source):
                end = end_of_braces(source, found.end() - 1)
                body = source[found.end():end]
                lines = body.count("\n") + lines_defined_outside(found[1], others)
                yield ClassSize(path.relative_to(root).as_posix(), found[1], count_methods(body), lines)
